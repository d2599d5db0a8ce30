import { Ajv } from 'ajv';
import Type from 'typebox';
import { expect, test, vi } from 'vitest';
import type { ModelFamily } from './port.ts';
import { readVendorsFile } from './read.ts';

const videos: ModelFamily = {
  name: 'video',
  capabilities: ['video.make'],
  traits: Type.Object({ seconds: Type.Integer({ minimum: 1 }) }),
  price: Type.Object({ per_second: Type.Number() }, { description: 'a price' }),
  timeouts: [],
  sandbox: [],
  serves: () => ['video.make'],
  lowestNanos: () => 0n,
  adapters: () => [],
};

/** Reads a file of ten vendors with so many models each; answers how many schemas were compiled for it. */
function compiledFor(modelsEach: number): number {
  const compile = vi.spyOn(Ajv.prototype, 'compile');
  const models = Array.from({ length: modelsEach }, (_, i) => ({ id: `m${i}`, seconds: 5, price: 'free' }));
  const own = { adapter: 'plain', base_url: 'http://127.0.0.1:1', region: 'local', models };
  const vendors = Array.from({ length: 10 }, (_, i) => ({ id: `own-${i}`, ...own }));
  const { file, faults } = readVendorsFile(JSON.stringify({ version: 1, vendors }), {
    region: 'western',
    families: [videos],
    adapters: { video: [{ name: 'plain', modelFields: {} }] },
    nowMs: 0,
    environment: () => undefined,
    keyFile: () => null,
  });
  expect([faults, file.rows.length]).toEqual([[], 10 * modelsEach]);
  const count = compile.mock.calls.length;
  compile.mockRestore();
  return count;
}

test('a thousand models compile no more schemas than ten: each takes 5 ms', () => {
  const first = compiledFor(1);
  expect(first).toBeGreaterThan(0);
  expect(compiledFor(100)).toBeLessThanOrEqual(first);
});
