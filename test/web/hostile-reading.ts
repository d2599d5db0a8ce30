// Reads a page that is made to take time or memory, and says what came of it.
import { expect } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { Readers } from '../../src/modules/web/read/readers.ts';
import type { ReadTask } from '../../src/modules/web/read/wire.ts';
import type { Problem } from '../../src/problems/problem.ts';

export const readers = new Readers({ bounds: admission }, { threads: 1 });

const taskOf = (html: string): ReadTask => ({
  bytes: new Uint8Array(Buffer.from(html)),
  contentType: 'text/html; charset=utf-8',
  url: 'https://site.example/',
  format: 'markdown',
  mainContent: true,
  links: true,
  bytesMax: 1_048_576,
});

/** It is read or refused within the thread's time, and the next page is read as ever. */
export async function expectEnd(html: string): Promise<void> {
  const startedAt = performance.now();
  const { signal } = new AbortController();
  const said = await readers.run('account', taskOf(html), signal).then(
    () => 'read',
    ({ code, detail }: Problem) => `${code} ${detail}`,
  );
  expect(said).toMatch(/^(?:read|VALIDATION_FAILED too_complex)$/);
  expect(performance.now() - startedAt).toBeLessThan(admission.call.page.msMax + 3_000);
  const next = await readers.run('account', taskOf('<p>The next page.</p>'), signal);
  expect(next.content).toBe('The next page.');
}
