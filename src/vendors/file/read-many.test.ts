import Type from 'typebox';
import { expect, test } from 'vitest';
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

test('a thousand models hold nothing up: 5 s when each compiled its schema', () => {
  const models = Array.from({ length: 100 }, (_, i) => ({ id: `m${i}`, seconds: 5, price: 'free' }));
  const own = { adapter: 'plain', base_url: 'http://127.0.0.1:1', region: 'local', models };
  const vendors = Array.from({ length: 10 }, (_, i) => ({ id: `own-${i}`, ...own }));
  const startMs = performance.now();
  const { file, faults } = readVendorsFile(JSON.stringify({ version: 1, vendors }), {
    region: 'western',
    families: [videos],
    adapters: { video: [{ name: 'plain', modelFields: {} }] },
    nowMs: 0,
    environment: () => undefined,
    keyFile: () => null,
  });
  expect([faults, file.rows.length]).toEqual([[], 1_000]);
  expect(performance.now() - startMs).toBeLessThan(1_500);
});
