// Batches at the sandbox: results, states, money, and what ends them early.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchSweeps } from '../../src/modules/ai/batches/early-end.ts';
import { eventually } from '../cron/harness.ts';
import { client, createTestAccount } from '../support/service.ts';
import { BatchCaller, type Data, many, nanosOf } from './batches-harness.ts';
import { type AiBench, startAi } from './harness.ts';

let bench: AiBench;
beforeAll(async () => {
  bench = await startAi();
});
afterAll(() => bench?.service.stop());

const MODEL = 'sandbox/echo-1';
/** What a request for `chat` costs, nano-USD. */
const CHAT_NANOS = 160n;
const say = (content = 'Say hello.', over: object = {}) => ({
  capability: 'ai.chat',
  body: { model: MODEL, messages: [{ role: 'user', content }], ...over },
});
const vectors = (input: unknown = ['A boat.', 'Rain.']) => ({
  capability: 'ai.embed',
  body: { model: 'sandbox/ngram-1', input, dimensions: 64 },
});

const caller = async (usd = 1, scopes: string[] | null = null) =>
  new BatchCaller(bench.service, await createTestAccount(bench.service.core, usd, scopes));

/** Slow enough for something to happen in the middle. */
const slow = say('[[slow:400]] Say hello.');

test('chats and embeddings of one batch are each answered, charged once, and told of', async () => {
  const it = await caller();
  const requests = [...many(7, say()), ...many(5, vectors()).map((each, n) => ({ ...each, custom_id: `v-${n}` }))];
  const made = await it.create(requests);
  expect(made).toMatchObject({ status: 'queued', counts: { total: 12, succeeded: 0, failed: 0 }, finished_at: null });
  expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(86_400_000);
  const batch = await it.over(made.batch_id);
  expect(batch).toMatchObject({ status: 'completed', counts: { total: 12, succeeded: 12, failed: 0 } });
  const results = await it.results(made.batch_id, 5);
  expect(results.map(({ custom_id }) => custom_id).sort()).toEqual(requests.map(({ custom_id }) => custom_id).sort());
  const chat = results.find(({ custom_id }) => custom_id === 'n-3');
  expect(chat).toMatchObject({
    status: 'succeeded',
    error: null,
    response: { object: 'chat.completion', model: MODEL },
  });
  expect(chat.response.choices[0].message.content).toBe('[sandbox] You said: Say hello.');
  const embedded = results.find(({ custom_id }) => custom_id === 'v-0').response;
  const alone = await it.call('POST', '/v1/ai/embed', vectors().body);
  expect(embedded).toEqual(alone.body.data);
  const spent = await it.spent(1_000_000_000n);
  expect(nanosOf(results) + BigInt(Math.round(alone.body.metadata.cost_usd * 1e9))).toBe(spent);
  expect(Math.round(batch.cost_usd * 1e9)).toBe(Number(nanosOf(results)));
  expect(await it.events()).toMatchObject([{ type: 'ai.batch.completed', data: { object: batch } }]);
  const { body } = await it.call('GET', '/v1/ai/batch/list?status=completed');
  expect(body.data.items).toEqual([batch]);
});

test('what is refused for good fails alone, what fails for a while is tried three times, and neither costs anything', async () => {
  const it = await caller();
  const { batch_id: id } = await it.create([
    { custom_id: 'good', ...say() },
    { custom_id: 'unknown', ...say('Hello.', { model: 'no/such' }) },
    { custom_id: 'refused', ...say('[[fail:CONTENT_REFUSED]]') },
    { custom_id: 'down', ...say('[[fail:VENDOR_DOWN]]') },
  ]);
  await eventually(async () => {
    await bench.service.advance(2);
    return (await it.get(id)).finished_at;
  });
  const results = await it.results(id);
  const codes = Object.fromEntries(results.map(({ custom_id, error }) => [custom_id, error?.code ?? null]));
  expect(codes).toEqual({ good: null, unknown: 'MODEL_NOT_FOUND', refused: 'CONTENT_REFUSED', down: 'VENDOR_DOWN' });
  const tries = await sql<{ tries: number }>(
    `SELECT tries FROM ai.batch_item WHERE account_id = $1 AND custom_id = 'down'`,
    it,
  );
  expect(tries).toEqual([{ tries: 2 }]);
  expect(await it.get(id)).toMatchObject({ status: 'completed', counts: { succeeded: 1, failed: 3 } });
  expect(await it.spent(1_000_000_000n)).toBe(CHAT_NANOS);
});

test('a batch of which nothing succeeds has failed', async () => {
  const it = await caller();
  const { batch_id: id } = await it.create(many(3, say('[[fail:CONTENT_REFUSED]]')));
  expect(await it.over(id)).toMatchObject({ status: 'failed', counts: { total: 3, failed: 3 }, cost_usd: 0 });
  expect(await it.events()).toMatchObject([{ type: 'ai.batch.failed' }]);
});

describe('cancelled in the middle', () => {
  test('what is under way ends and is charged, the rest costs nothing, and a repeat answers the same', async () => {
    const it = await caller();
    const { batch_id: id } = await it.create(many(40, slow));
    await eventually(async () => (await it.get(id)).counts.succeeded > 0);
    const { body } = await it.call('POST', `/v1/ai/batch/cancel/${id}`);
    expect(body.data.counts.failed).toBeGreaterThan(20);
    const batch = await it.over(id);
    expect(batch.status).toBe('cancelled');
    expect(batch.counts.succeeded + batch.counts.failed).toBe(40);
    const results = await it.results(id, 7);
    expect(results).toHaveLength(40);
    const failed = results.filter(({ status }) => status === 'failed');
    expect(new Set(failed.map(({ error }) => error.code))).toEqual(new Set(['BATCH_ENDED']));
    expect(await it.spent(1_000_000_000n)).toBe(nanosOf(results));
    const again = await it.call('POST', `/v1/ai/batch/cancel/${id}`);
    expect([again.status, again.body.data]).toEqual([200, batch]);
    expect(await it.events()).toMatchObject([{ type: 'ai.batch.failed', data: { object: { status: 'cancelled' } } }]);
  });

  test('one that has ended otherwise cannot be cancelled', async () => {
    const it = await caller();
    const { batch_id: id } = await it.create(many(1, say()));
    await it.over(id);
    const { status, body } = await it.call('POST', `/v1/ai/batch/cancel/${id}`);
    expect([status, body.error.code]).toEqual([409, 'STATE_CONFLICT']);
  });
});

test('after a day what has not begun fails, and seven days after its end a batch is gone', async () => {
  const it = await caller();
  const { batch_id: id } = await it.create(many(60, slow));
  await bench.service.advance(86_401);
  const [expiry, retention] = batchSweeps(bench.service.core);
  const sweep = async (which: typeof expiry) => which?.run(new AbortController().signal);
  await sweep(expiry);
  const batch = await it.over(id);
  expect(batch.status).toBe('expired');
  expect(batch.counts.failed).toBeGreaterThan(20);
  await it.spent(1_000_000_000n);
  await bench.service.advance(6 * 86_400);
  await sweep(retention);
  expect((await it.call('GET', `/v1/ai/batch/get/${id}`)).status).toBe(200);
  await bench.service.advance(86_400);
  await sweep(retention);
  expect((await it.call('GET', `/v1/ai/batch/results/${id}`)).body.error.code).toBe('BATCH_NOT_FOUND');
  expect(await sql('SELECT 1 FROM ai.batch_item WHERE account_id = $1', it)).toEqual([]);
});

test.each([
  ['revoked', 'INVALID_API_KEY', (id: string) => ['DELETE', `/v1/account/keys/revoke/${id}`, undefined] as const],
  [
    'narrowed',
    'INSUFFICIENT_SCOPE',
    (id: string) => ['PATCH', `/v1/account/keys/update/${id}`, { scopes: ['queue'] }] as const,
  ],
  [
    'short of budget',
    'INSUFFICIENT_CREDIT',
    (id: string) =>
      ['PATCH', `/v1/account/keys/update/${id}`, { spend_cap_usd: 0.000_001, spend_cap_period: 'total' }] as const,
  ],
])('when the key is %s in the middle the requests that are left fail with its code', async (_how, code, change) => {
  const it = await caller();
  const made = await it.call('POST', '/v1/account/keys/create', { name: 'for batches' });
  const { key_id: keyId, key_secret: key } = made.body.data;
  const { status, text, body } = await client(bench.service.url, key)('POST', '/v1/ai/batch/create', {
    items: many(60, slow),
  });
  expect(status, text).toBe(200);
  const { batch_id: id } = body.data;
  await eventually(async () => (await it.get(id)).counts.succeeded > 0);
  const [method, path, changes] = change(keyId);
  const changed = await it.call(method, path, changes);
  expect(changed.status, changed.text).toBe(200);
  const batch = await it.over(id);
  expect(batch.status).toBe('completed');
  const results = await it.results(id);
  const failed = results.filter(({ status }) => status === 'failed');
  expect(failed.length).toBeGreaterThan(10);
  expect(new Set(failed.map(({ error }) => error.code))).toEqual(new Set([code]));
  expect(await it.spent(1_000_000_000n)).toBe(nanosOf(results));
});

test('a wallet that runs dry in the middle pays for as many as it covers, one after the other, and not for one more', async () => {
  // Each is held for 25 tokens or more, and costs 16: several at once are held for more than there is.
  const it = await caller(0.000_003);
  const { batch_id: id } = await it.create(many(40, say('Say hello.', { max_tokens: 16 })));
  const batch = await it.over(id);
  const results = await it.results(id);
  const failed = results.filter(({ status }) => status === 'failed');
  expect(new Set(failed.map(({ error }) => error.code))).toEqual(new Set(['INSUFFICIENT_CREDIT']));
  const spent = await it.spent(3_000n);
  expect(spent).toBe(CHAT_NANOS * BigInt(batch.counts.succeeded));
  // The next would have been held for more than was left.
  expect(3_000n - spent).toBeLessThan(300n);
  expect(batch.counts.succeeded).toBeGreaterThanOrEqual(16);
});

describe('refused', () => {
  const refused = async (items: readonly object[], it?: BatchCaller) => {
    const { body } = await (it ?? (await caller())).call('POST', '/v1/ai/batch/create', { items });
    return [body.error?.code, body.error?.param, body.error?.code_detail];
  };

  test.each([
    ['a custom_id twice', [many(1, say())[0], many(1, say())[0]], 'items[1].custom_id', 'unique'],
    ['no messages', many(1, { capability: 'ai.chat', body: {} }), 'items[0].body.messages', 'type'],
    ['a stream', many(2, say('Hello.', { stream: true })), 'items[0].body.stream', 'not_here'],
    ['a key of its own', many(1, say('Hello.', { idempotency_key: 'k' })), 'items[0].body.idempotency_key', 'not_here'],
    ['too many inputs', many(1, vectors(Array.from({ length: 257 }, () => 'a'))), 'items[0].body.input', 'max_items'],
  ])('%s', async (_what, items, param, detail) => {
    expect(await refused(items as object[])).toEqual(['VALIDATION_FAILED', param, detail]);
  });

  test('none, too many, another capability', async () => {
    expect((await refused([]))[0]).toBe('VALIDATION_FAILED');
    expect((await refused(many(10_001, say())))[0]).toBe('VALIDATION_FAILED');
    expect((await refused(many(1, { capability: 'queue.publish', body: {} })))[1]).toBe('items[0].capability');
  });

  test('of a key that may not call what is in it', async () => {
    const it = await caller(1, ['ai.batch.create', 'ai.chat']);
    expect((await refused(many(1, vectors()), it))[0]).toBe('INSUFFICIENT_SCOPE');
  });

  test('of an account that has as many as its tier may', async () => {
    const it = await caller();
    await sqlOf(
      `INSERT INTO ai.batch (account_id, batch_id, key_id, status, total, kept_bytes, created_at, expires_at)
       SELECT $1, 'aib_' || n, 'key_1', 'running', 1, 0, core.clock_now(), core.clock_now() + interval '1 day' FROM generate_series(1, 10) n`,
      [it.account.accountId],
    );
    expect(await refused(many(1, say()), it)).toEqual(['QUOTA_EXCEEDED', undefined, 'live']);
  });
});

test('10,000 requests are accepted in one call, and cancelled in one', async () => {
  const it = await caller();
  const { batch_id: id } = await it.create(many(10_000, slow));
  expect((await it.call('POST', `/v1/ai/batch/cancel/${id}`)).status).toBe(200);
  const batch = await it.over(id);
  expect(batch).toMatchObject({ status: 'cancelled', counts: { total: 10_000 } });
  expect(batch.counts.succeeded + batch.counts.failed).toBe(10_000);
  const [{ numbers, first, last }] = (await sql<Data>(
    `SELECT count(DISTINCT result_no)::int AS numbers, min(result_no) AS first, max(result_no) AS last FROM ai.batch_item WHERE account_id = $1`,
    it,
  )) as [Data];
  expect([numbers, first, last]).toEqual([10_000, 1, 10_000]);
});

test('the same batch under one idempotency key is made once', async () => {
  const it = await caller();
  // `requests` is what `items` was called before.
  const body = { requests: many(2, say()), idempotency_key: randomUUID() };
  const replies = await Promise.all([1, 2, 3].map(() => it.call('POST', '/v1/ai/batch/create', body)));
  const ids = new Set(replies.filter(({ status }) => status === 200).map((reply) => reply.body.data.batch_id));
  expect(ids.size).toBe(1);
  await it.over([...ids][0] as string);
  expect(await it.spent(1_000_000_000n)).toBe(2n * CHAT_NANOS);
});

test('another account finds nothing of it', async () => {
  const [it, other] = [await caller(), await caller()];
  const { batch_id: id } = await it.create(many(2, say()));
  for (const [method, path] of [
    ['GET', 'get'],
    ['GET', 'results'],
    ['POST', 'cancel'],
  ] as const) {
    const { status, body } = await other.call(method, `/v1/ai/batch/${path}/${id}`);
    expect([status, body.error.code]).toEqual([404, 'BATCH_NOT_FOUND']);
  }
  expect((await it.over(id)).status).toBe('completed');
});

function sqlOf<R>(text: string, values: readonly string[]) {
  return bench.service.core.db.query<R>({ name: '', text }, values);
}
const sql = async <R>(text: string, { account }: BatchCaller) => (await sqlOf<R>(text, [account.accountId])).rows;
