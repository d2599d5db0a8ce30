// Bounds processor time: documents are rendered on the event loop, which nothing may hold. Processor time counts, three times what is aimed at.
import { expect, test } from 'vitest';
import { publicDocuments } from '../../src/surfaces/documents/documents.ts';
import { manifest } from '../support/capabilities.ts';
import { allowedCpuMs } from '../support/slowness.ts';

const RENDER_MS_MAX = 3 * 50;
const TRIES = 6;
const options = { baseUrl: 'https://infra.example' };

function renderMs(path: string): number {
  const fresh = publicDocuments(manifest, options);
  const begun = process.threadCpuUsage();
  expect(fresh.get(path)?.render().length, path).toBeGreaterThan(0);
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

test('no document takes 50 ms to render', () => {
  const allowedMs = allowedCpuMs(RENDER_MS_MAX);
  for (const path of publicDocuments(manifest, options).keys()) {
    // A collection of garbage may fall into any of them.
    const leastMs =
      renderMs(path) < RENDER_MS_MAX ? 0 : Math.min(...Array.from({ length: TRIES }, () => renderMs(path)));
    expect(leastMs, path).toBeLessThan(allowedMs);
  }
});
