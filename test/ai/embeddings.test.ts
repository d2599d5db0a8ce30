// Embeddings at vendors, and vendors that an account excludes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { embeddingsAnswer, type Json } from '../support/ai/openai-double.ts';
import { openaiWire } from '../support/ai/wires.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({}, openaiWire, {}, { timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const complete = (over: object = {}) =>
  bench.call('POST', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello.' }], ...over });

describe('embeddings', () => {
  const embed = (over: object = {}) => bench.call('POST', '/v1/embeddings', { input: ['a', 'b'], ...over });

  test('come in the order of the inputs, whatever form the vendor answers in', async () => {
    bench.acme.next(
      { status: 200, body: embeddingsAnswer(2, 'float') },
      { status: 200, body: embeddingsAnswer(2, 'base64') },
    );
    const cost = await bench.spent(async () => {
      const [first, second] = [await embed(), await embed({ encoding_format: 'base64' })];
      expect(first.body.data.map(({ embedding }: Json) => embedding)).toEqual([
        [0, 0.5, -0.25],
        [1, 0.5, -0.25],
      ]);
      expect(second.body.data[1].embedding).toBe(
        Buffer.from(Float32Array.from([1, 0.5, -0.25]).buffer).toString('base64'),
      );
    });
    expect(cost).toBe(4n * 1_050n);
  });

  test('fail over to a model of the same space; one that lacks a vector has failed', async () => {
    bench.acme.next({ status: 200, body: embeddingsAnswer(1, 'float') });
    const { body } = await embed();
    expect(body).toMatchObject({
      model: 'corp/e-1',
      service_metadata: { failover_info: { failover_reason: 'VENDOR_DOWN' } },
    });
  });

  test('are charged once for a key, and kept with it', async () => {
    const first = await embed({ idempotency_key: 'e' });
    expect(
      await bench.spent(async () => expect((await embed({ idempotency_key: 'e' })).body.data).toEqual(first.body.data)),
    ).toBe(0n);
  });
});

describe('routing', () => {
  const set = (exclude: string[]) => bench.call('PUT', '/v1/account/routing/set', { capability: 'ai.chat', exclude });

  test('an excluded vendor is asked never, not even by name, and is shown as left out', async () => {
    expect((await set(['acme'])).status).toBe(200);
    await expect.poll(async () => (await complete()).body.service_metadata.vendor).toBe('corp');
    expect((await complete({ model: 'acme/m-1' })).body.error).toMatchObject({ code: 'VENDOR_NOT_AVAILABLE' });
    const { data } = (await bench.call('POST', '/v1/account/routing/test', {})).body;
    expect(data.chain.map(({ vendor }: Json) => vendor)).toEqual(['corp']);
    expect((await set(['acme', 'corp'])).body.error).toMatchObject({ code: 'ROUTING_EMPTY' });
    expect((await set([])).status).toBe(200);
  });
});
