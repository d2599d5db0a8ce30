// Answers kept for the same request again, when the caller asks for it.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cacheSweep } from '../../src/modules/ai/cache/cache.ts';
import { chunk, completionOf, done, frame } from '../support/ai/openai-double.ts';
import { client, createTestAccount, startTestService } from '../support/service.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start();
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const body = (content: string, over: object = {}) => ({
  messages: [{ role: 'user', content }],
  cache_ttl_seconds: 60,
  ...over,
});
const complete = (sent: object) => bench.call('POST', '/v1/chat/completions', sent);
const layerOf = async (sent: object) => (await complete(sent)).body.service_metadata.cache_layer;

test('the same request is answered with it for nothing, in either form; another one, or one that does not ask, is not', async () => {
  expect(await layerOf(body('one'))).toBe('l1_miss');
  const free = await bench.spent(async () => {
    const hit = (await complete(body('one', { cache_ttl_seconds: 5 }))).body;
    expect(hit.service_metadata).toMatchObject({
      cache_layer: 'l1_hit',
      cost_usd: 0,
      idempotent_replay: false,
      vendor: 'acme',
    });
    const streamed = await bench.stream(body('one'));
    expect([streamed.text, streamed.events.at(-1).service_metadata.cache_layer]).toEqual([
      'Hello from acme.',
      'l1_hit',
    ]);
    const enveloped = (await bench.call('POST', '/v1/ai/chat', body('one'))).body;
    expect(enveloped.metadata).toMatchObject({ cache_layer: 'l1_hit', cost_usd: 0 });
  });
  expect(free).toBe(0n);
  expect(bench.acme.seen).toHaveLength(1);
  expect(await layerOf(body('one', { temperature: 1 }))).toBe('l1_miss');
  expect(await layerOf(body('one', { model: 'corp/m-1' }))).toBe('l1_miss');
  expect(await layerOf(body('one', { cache_ttl_seconds: undefined }))).toBe('none');
});

test('another account never gets it; another process does, until its time is over', async () => {
  const sent = body('two');
  expect(await layerOf(sent)).toBe('l1_miss');
  const other = await createTestAccount(bench.service.core, 1);
  const reply = await client(bench.service.url, other.secret)('POST', '/v1/chat/completions', sent);
  expect(reply.body.service_metadata.cache_layer).toBe('l1_miss');
  const second = await startTestService({ env: bench.env, database: bench.service.database });
  const there = () => client(second.url, bench.account.secret)('POST', '/v1/chat/completions', sent);
  expect((await there()).body.service_metadata).toMatchObject({ cache_layer: 'l2_hit', cost_usd: 0 });
  expect((await there()).body.service_metadata.cache_layer).toBe('l1_hit');
  await second.stop();
  const { db } = bench.service.core;
  const rows = async () =>
    (await db.query<{ sealed: Buffer }>({ name: 'test_cached', text: 'SELECT sealed FROM ai.cached_answer' }, [])).rows;
  expect((await rows()).every(({ sealed }) => !sealed.toString('latin1').includes('Hello'))).toBe(true);
  await bench.service.advance(61);
  await cacheSweep(bench.service.core).run(new AbortController().signal);
  expect(await rows()).toEqual([]);
});

test('embeddings are kept as chats are, and come in the form that is asked for; half of two requests is none of them', async () => {
  const embed = async (over: object = {}) =>
    (await bench.call('POST', '/v1/embeddings', { input: ['a', 'b'], cache_ttl_seconds: 60, ...over })).body;
  const first = await embed();
  expect(first.service_metadata.cache_layer).toBe('l1_miss');
  const free = await bench.spent(async () => {
    const again = await embed();
    expect(again.service_metadata).toMatchObject({ cache_layer: 'l1_hit', cost_usd: 0, idempotent_replay: false });
    expect([again.data, again.usage, again.model]).toEqual([first.data, first.usage, first.model]);
    const packed = await embed({ encoding_format: 'base64' });
    expect(packed.data[1].embedding).toBe(Buffer.from(Float32Array.from([1, 0.5, -0.25]).buffer).toString('base64'));
    const sent = { input: ['a', 'b'], cache_ttl_seconds: 60 };
    const enveloped = (await bench.call('POST', '/v1/ai/embed', sent)).body;
    expect([enveloped.metadata.cache_layer, enveloped.data.data]).toEqual(['l1_hit', first.data]);
  });
  expect(free).toBe(0n);
  expect(bench.acme.seen).toHaveLength(1);
  expect((await embed({ input: ['a'] })).service_metadata.cache_layer).toBe('l1_miss');
  expect((await embed({ cache_ttl_seconds: undefined })).service_metadata.cache_layer).toBe('none');
  const { body } = await bench.call('POST', '/v1/embeddings', { input: ['c'] }, { 'x-qm-cache-ttl': '60' });
  expect(body.service_metadata.cache_layer).toBe('l1_miss');
});

test.each([
  ['/v1/ai/chat', { messages: [{ role: 'user', content: 'in the envelope' }] }],
  ['/v1/ai/embed', { input: ['in the envelope'] }],
])('%s takes the header too, and refuses what is no time', async (path, sent) => {
  const by = async (ttl: string) => (await bench.call('POST', path, sent, { 'x-qm-cache-ttl': ttl })).body;
  expect((await by('60')).metadata.cache_layer).toBe('l1_miss');
  expect((await by('60')).metadata.cache_layer).toBe('l1_hit');
  expect((await bench.call('POST', path, sent)).body.metadata.cache_layer).toBe('none');
  expect((await by('soon')).error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'X-QM-Cache-TTL' });
});

test('half an answer, and one that is too long, are not kept', async () => {
  const long = 'x'.repeat(300 * 1024);
  bench.acme.next({
    status: 200,
    body: { choices: [{ index: 0, message: { role: 'assistant', content: long }, finish_reason: 'stop' }] },
  });
  expect(await layerOf(body('three'))).toBe('l1_miss');
  expect(await layerOf(body('three'))).toBe('l1_miss');
  expect(bench.acme.seen).toHaveLength(2);
});

test('the header says the same as the field; what is no time is refused', async () => {
  const sent = { messages: [{ role: 'user', content: 'four' }] };
  const by = (ttl: string) => bench.call('POST', '/v1/chat/completions', sent, { 'x-qm-cache-ttl': ttl });
  expect((await by('60')).body.service_metadata.cache_layer).toBe('l1_miss');
  expect((await by('60')).body.service_metadata.cache_layer).toBe('l1_hit');
  expect((await by('soon')).body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'X-QM-Cache-TTL' });
});

test('an account has a thousand in the database; further ones are kept in their process alone', async () => {
  const { db } = bench.service.core;
  const fill = `INSERT INTO ai.cached_answer (account_id, digest, sealed, expires_at)
                SELECT $1, 'd' || i, '\\x00', core.clock_now() + interval '1 day' FROM generate_series(1, 1000) i ON CONFLICT DO NOTHING`;
  await db.query({ name: 'test_fill_cache', text: fill }, [bench.account.accountId]);
  const count = async () => {
    const text = 'SELECT count(*)::int AS kept FROM ai.cached_answer WHERE account_id = $1';
    return (await db.query<{ kept: number }>({ name: 'test_count_cache', text }, [bench.account.accountId])).rows[0]
      ?.kept;
  };
  const before = await count();
  expect(await layerOf(body('five'))).toBe('l1_miss');
  expect([await layerOf(body('five')), await count()]).toEqual(['l1_hit', before]);
});

test('an answer too long to be kept is told of to a repeat of its key, streamed or not', async () => {
  const long = 'x'.repeat(1_100_000);
  const parts = [0, 1, 2].map((i) => frame(chunk({ content: long.slice(i * 400_000, (i + 1) * 400_000) })));
  bench.acme.next({ stream: [...parts, frame(chunk({}, 'stop')), done] }, { status: 200, body: completionOf(long) });
  const messages = [{ role: 'user', content: 'six' }];
  const [streamed, whole] = [
    { messages, idempotency_key: 'long-1' },
    { messages, idempotency_key: 'long-2' },
  ];
  expect((await bench.stream(streamed)).text).toHaveLength(long.length);
  expect((await complete(whole)).body.choices[0].message.content).toHaveLength(long.length);
  const conflict = { code: 'IDEMPOTENCY_CONFLICT', param: 'idempotency_key' };
  expect((await complete({ ...streamed, stream: true })).body.error).toMatchObject(conflict);
  expect((await complete(whole)).body.error).toMatchObject(conflict);
});

test('what another vendor answered in the place of the first is no answer of the first', async () => {
  bench.acme.next({ status: 500, body: { error: { message: 'no', code: 'server_error' } } });
  const first = (await complete(body('seven'))).body;
  expect([first.model, first.service_metadata.cache_layer]).toEqual(['corp/m-1', 'l1_miss']);
  const recovered = (await complete(body('seven'))).body;
  expect([recovered.model, recovered.service_metadata.cache_layer]).toEqual(['acme/m-1', 'l1_miss']);
});
