// docs/ai.md: each file of vendors on it is one that the service starts with, and the servers that it names are all there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { inspectVendors } from '../../src/service/vendors-file.ts';
import { PROJECT } from '../support/process.ts';

const page = readFileSync(join(PROJECT, 'docs/ai.md'), 'utf8');
const files = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text as string);
/** Every key that they name is there. */
const settings = (read: (variables: { text(name: string): string }) => unknown) => read({ text: () => 'a-key' });
const place = { vendorsFile: 'vendors.yaml', isVendorsFileNamed: true, region: 'western', settings } as never;
const read = (text: string) => inspectVendors(text, place, modules);

test.each(files)('%# is a whole file without a fault', async (text) => {
  const { file, faults } = await read(text);
  expect(faults).toEqual([]);
  expect(file.warnings).toEqual([]);
  expect(file.rows.filter(({ vendor }) => vendor.id !== 'sandbox').length).toBeGreaterThan(0);
});

test('a field that nobody knows would be a fault', async () => {
  const { faults } = await read((files[0] as string).replace('max_output', 'max_outputs'));
  expect(faults.map(({ field }) => field)).toEqual(['vendors[0].models[0].max_outputs']);
});

test('each server has its file', () => {
  const ids = files.flatMap((text) => [...text.matchAll(/^ {2}- id: (.*)$/gm)].map(([, id]) => id));
  expect(ids).toEqual(['ollama', 'llamacpp', 'vllm', 'openrouter', 'anthropic', 'openai']);
});
