// Vectors of two models cannot be compared: whatever prices and health say, a call for embeddings goes to the one that it means, or to another of
// its space, or fails.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { aiFamily } from '../../src/modules/ai/models/family.ts';
import { openaiModels } from '../../src/modules/ai/vendors/openai/index.ts';
import { readVendorsFile } from '../../src/vendors/file/read.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

/** Beside acme/e-1, the default, and corp/e-1, which are of one space. */
const embeddings = {
  acme: [
    { id: 'cheap', price: { input: 0.01 }, embedding_space: 'other', dimensions_range: { min: 2, max: 4 } },
    { id: 'solo', price: { input: 1 } },
    { id: 'twin', price: { input: 1 }, embedding_space: 'twin of acme', max_input_tokens: 10 },
  ],
  corp: [
    { id: 'solo', price: { input: 1 } },
    { id: 'twin', price: { input: 1 }, embedding_space: 'twin of corp' },
    { id: 'dear', price: { input: 1.6 }, embedding_space: 'e' },
    { id: 'texts', price: { input: 1 }, token_inputs: false },
  ],
};
let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({}, undefined, {}, { embeddings, timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const down = { status: 500, body: { error: { message: 'no', code: 'server_error' } } };
const embed = (over: object = {}) => bench.call('POST', '/v1/embeddings', { input: ['a', 'b'], ...over });
const asked = () => [...bench.acme.seen, ...bench.corp.seen].map(({ body }) => body.model);

describe('the model', () => {
  test.each([undefined, 'auto'])('%s is the default, though another is cheaper', async (model) => {
    expect((await embed({ model })).body.model).toBe('acme/e-1');
  });

  test('auto fails with all of its space: no other is asked, and nothing is paid', async () => {
    bench.acme.next(down);
    bench.corp.next(down);
    const paid = await bench.spent(async () => {
      const { status, body, headers } = await embed();
      expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([503, 'VENDOR_DOWN', null]);
    });
    // Neither the cheap one, nor one of the space that costs more than half as much again.
    expect([paid, asked()]).toEqual([0n, ['e-1', 'e-1']]);
  });

  test.each([
    ['a bare name, of one space', 'e-1', 'corp/e-1'],
    ['a bare name, of two spaces', 'twin', null],
    ['a bare name without a space', 'solo', null],
    ['one of a vendor', 'acme/e-1', null],
  ])('that is %s is replaced by one of its space only', async (_, model, standIn) => {
    bench.acme.next(down);
    const { status, body } = await embed({ model });
    expect([status, body.model ?? null, bench.corp.seen.length]).toEqual(
      standIn === null ? [503, null, 0] : [200, standIn, 1],
    );
  });

  test('that cannot do what is asked is not replaced by one that can', async () => {
    const told = async (over: object) => {
      const { status, body } = await embed(over);
      return [status, body.error?.param, body.error?.type];
    };
    const refused = (param: string) => [400, param, 'invalid_request_error'];
    expect(await told({ dimensions: 2 })).toEqual(refused('dimensions'));
    expect(await told({ model: 'acme/twin', input: 'word '.repeat(20) })).toEqual(refused('input'));
    expect(await told({ model: 'texts', input: [[1, 2]] })).toEqual(refused('input'));
    expect(asked()).toEqual([]);
    expect((await embed({ model: 'texts' })).status).toBe(200);
    expect((await embed({ model: 'cheap', dimensions: 3 })).status).toBe(200);
    expect(bench.acme.seen[0]?.body.dimensions).toBe(3);
  });

  test('of a key or the cache is the one that answered first, whoever is up now', async () => {
    bench.acme.next(down);
    const first = await embed({ idempotency_key: 'space' });
    const again = await embed({ idempotency_key: 'space' });
    expect([first.body.model, again.body.model]).toEqual(['corp/e-1', 'corp/e-1']);
  });
});

test.each([
  ['without embeddings', [], null],
  ['with one default', [true, false], null],
  ['without a default', [false, false], 'One embedding model must have default_embedding: true, and only one; 0 have.'],
  ['with two defaults', [true, true], 'One embedding model must have default_embedding: true, and only one; 2 have.'],
] as const)('a file %s is taken, or refused by name', (_, defaults, fault) => {
  const models = defaults.map((isDefault, i) => ({
    id: `e-${i}`,
    dimensions: 3,
    price: 'free',
    ...(isDefault ? { default_embedding: true } : {}),
  }));
  const chat = { id: 'm-1', price: 'free' };
  const vendor = { id: 'acme', adapter: 'openai', region: 'western', models: [chat, ...models] };
  const { faults } = readVendorsFile(JSON.stringify({ version: 1, vendors: [vendor] }), {
    region: 'western',
    families: [aiFamily],
    adapters: { ai: [openaiModels] },
    nowMs: 0,
    environment: () => undefined,
    keyFile: () => null,
  });
  expect(faults.map(({ message }) => message)).toEqual(fault === null ? [] : [expect.stringContaining(fault)]);
});
