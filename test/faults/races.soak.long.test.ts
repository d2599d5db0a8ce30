// What must hold exactly however many calls arrive at once: two processes on one database, hundreds of clients.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockWaiters } from '../support/lock-waits.ts';
import { rounds } from '../support/soak.ts';
import { type Answer, type Call, type Pair, parallel, startPair, tally } from './pair.ts';

const PRICE_NANOS = 20_000;

let pair: Pair;

beforeAll(async () => {
  pair = await startPair();
});
afterAll(async () => {
  await pair?.stop();
});

interface Books {
  readonly balance: number;
  readonly units: number;
  readonly spent: number;
  readonly messages: number;
}

/** What the database holds, in nano-USD and messages. */
async function readBooks(accountId: string): Promise<Books> {
  const text = `SELECT (SELECT balance_nanos FROM core.wallet WHERE account_id = $1) AS balance,
                       (SELECT coalesce(sum(units), 0)::bigint FROM core.ledger WHERE account_id = $1 AND kind = 'charge') AS units,
                       (SELECT coalesce(-sum(amount_nanos), 0)::bigint FROM core.ledger WHERE account_id = $1 AND kind = 'charge') AS spent,
                       (SELECT count(*) FROM queue.message WHERE account_id = $1) AS messages`;
  const { rows } = await pair.db.query<Record<keyof Books, bigint>>({ name: 'books', text }, [accountId]);
  const row = rows[0] as Record<keyof Books, bigint>;
  const numbers = Object.entries(row).map(([name, value]) => [name, Number(value)]);
  return Object.fromEntries(numbers) as Books;
}

const createQueue = (call: Call, name = 'jobs') => call('POST', '/v1/queue/create', { name });
const publish = (call: Call, n = 0, fields: object = {}) =>
  call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n }, ...fields });

test('a thousand calls at once with one idempotency key: one message, one charge, one answer', async () => {
  const { accountId, callers } = await pair.account(1);
  await createQueue(callers[0]);
  const answers = await parallel(callers, 1_000, (call) => publish(call, 7, { idempotency_key: 'once' }));
  expect(tally(answers)).toEqual({ ok: 1_000 });
  expect(new Set(answers.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
  expect(answers.filter(({ body }) => body.metadata.idempotent_replay === false)).toHaveLength(1);
  expect(answers.reduce((sum, { body }) => sum + body.metadata.cost_usd, 0)).toBeCloseTo(0.00002, 12);
  expect(await readBooks(accountId)).toEqual({ balance: 1e9 - PRICE_NANOS, units: 1, spent: PRICE_NANOS, messages: 1 });
});

test('a thousand calls at once with one idempotency key of a free write: one queue, one answer', async () => {
  const { callers } = await pair.account(1);
  const body = { name: 'created-once', idempotency_key: 'once' };
  const answers = await parallel(callers, 1_000, (call) => call('POST', '/v1/queue/create', body));
  const counts = tally(answers);
  // A call that waited two seconds for another one with its key is told so.
  expect((counts.ok ?? 0) + (counts.IDEMPOTENCY_IN_FLIGHT ?? 0)).toBe(1_000);
  const done = answers.filter(({ status }) => status === 200);
  expect(new Set(done.map(({ body: { data } }) => JSON.stringify(data))).size).toBe(1);
  expect(done.filter(({ body: { metadata } }) => metadata.idempotent_replay === false)).toHaveLength(1);
});

const MESSAGES = 1_000 * rounds(50);

test(`256 clients turn exactly the price of ${MESSAGES} messages into exactly so many`, {
  timeout: 120_000,
}, async () => {
  const nanos = MESSAGES * PRICE_NANOS;
  const { accountId, callers } = await pair.account(nanos / 1e9);
  await createQueue(callers[0]);
  const drainers = Array.from({ length: 256 }, (_, n) => publishUntilRefused(callers[n % 2] as Call));
  const refusals = await Promise.all(drainers);
  expect(tally(refusals.map(({ refusal }) => refusal))).toEqual({ INSUFFICIENT_CREDIT: 256 });
  for (const { refusal } of refusals) expect(refusal.body.error.code_detail).toBe('balance');
  expect(refusals.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(MESSAGES);
  expect(await readBooks(accountId)).toEqual({ balance: 0, units: MESSAGES, spent: nanos, messages: MESSAGES });
  const { body } = await callers[1]('GET', '/v1/account/balance');
  expect(body.data.balance_usd).toBe(0);
});

async function publishUntilRefused(call: Call): Promise<{ accepted: number; refusal: Answer }> {
  for (let accepted = 0; ; accepted += 1) {
    const answer = await publish(call, accepted);
    if (answer.status !== 200) return { accepted, refusal: answer };
  }
}

test('a budget holds to the last message', async () => {
  const { accountId, callers } = await pair.account(1);
  await createQueue(callers[0]);
  const budget = { period: 'daily', hard_cap_usd: 0.01 };
  expect((await callers[0]('PUT', '/v1/account/budget/set', budget)).status).toBe(200);
  const answers = await parallel(callers, 1_200, publish);
  expect(tally(answers)).toEqual({ ok: 500, INSUFFICIENT_CREDIT: 700 });
  const refused = answers.filter(({ status }) => status === 402);
  expect(new Set(refused.map(({ body }) => body.error.code_detail))).toEqual(new Set(['budget_daily']));
  expect(await readBooks(accountId)).toMatchObject({ units: 500, spent: 1e7, messages: 500 });
});

test('a thousand queues is a thousand, however many are asked for at once', { timeout: 60_000 }, async () => {
  const { callers } = await pair.account(0);
  const answers = await parallel(callers, 1_040, (call, n) => createQueue(call, `queue-${n}`));
  expect(tally(answers)).toEqual({ ok: 1_000, QUOTA_EXCEEDED: 40 });
});

test('a hundred keys are a hundred, however many are asked for at once', async () => {
  const { callers } = await pair.account(0);
  const answers = await parallel(callers, 130, (call, n) => call('POST', '/v1/account/keys/create', { name: `k${n}` }));
  // One is the caller's own.
  expect(tally(answers)).toEqual({ ok: 99, QUOTA_EXCEEDED: 31 });
  const { body } = await callers[1]('GET', '/v1/account/keys/list');
  expect(body.data.items).toHaveLength(100);
});

describe('a key revoked while its calls wait', () => {
  test('nothing of it is committed after the revocation, nothing succeeds after its answer', async () => {
    const account = await pair.account(1);
    const [admin] = account.callers;
    await createQueue(admin);
    const made = await admin('POST', '/v1/account/keys/create', { name: 'to be revoked' });
    const { key_id: id, key_secret } = made.body.data;
    const callers = pair.callers(key_secret);
    // Both processes know the key, and one long poll waits on each.
    await createQueue(admin, 'empty');
    const polling = callers.map((call) => call('POST', '/v1/queue/consume', { queue: 'empty', wait_seconds: 20 }));
    await sleep(100);
    const early = await parallel(callers, 20, publish);
    const session = await lockWallet(account.accountId);
    const before = parallel(callers, 300, publish);
    await session.waiters(2);
    const revoking = admin('DELETE', `/v1/account/keys/revoke/${id}`);
    await session.waiters(3);
    // These come to the wallet after the revocation, if that waits for it already.
    const behind = parallel(callers, 200, publish);
    await session.release();
    const revoked = await revoking;
    expect(revoked.body.data.status).toBe('revoked');
    const late = await parallel(callers, 20, (call, n) =>
      n < 10 ? publish(call, n) : call('GET', '/v1/account/balance'),
    );
    const latePolls = await parallel(callers, 2, (call) => call('POST', '/v1/queue/consume', { queue: 'jobs' }));
    await admin('POST', '/v1/queue/publish', { queue: 'empty', payload: { for: 'nobody' } });
    expect(tally([...late, ...latePolls]).ok).toBeUndefined();
    expect(tally(await Promise.all(polling))).toEqual({ INVALID_API_KEY: 2 });
    await expectOrder(account.accountId, id, [...early, ...(await before), ...(await behind)]);
  });
});

/** Holds the wallet's row as a slow transaction would. */
async function lockWallet(
  accountId: string,
): Promise<{ waiters(count: number): Promise<void>; release(): Promise<void> }> {
  const session = new pg.Client(pair.connection);
  await session.connect();
  await session.query('BEGIN');
  await session.query('SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE', [accountId]);
  return {
    /** Gives so many sessions a second to wait for it; nobody waits for two. */
    async waiters(count) {
      for (const endMs = performance.now() + 1_000; performance.now() < endMs; await sleep(10)) {
        if ((await lockWaiters(pair.db)) >= count) return;
      }
    },
    async release() {
      await session.query('COMMIT');
      await session.end();
    },
  };
}

/** What was accepted is what was committed before the revocation, and nothing else. */
async function expectOrder(accountId: string, keyId: string, answers: readonly Answer[]): Promise<void> {
  const text = `SELECT k.revoked_at, coalesce(sum(l.units), 0)::bigint AS units, max(l.created_at) AS last
                  FROM core.api_key k LEFT JOIN core.ledger l ON l.account_id = k.account_id AND l.key_id = k.key_id
                 WHERE k.account_id = $1 AND k.key_id = $2
                 GROUP BY k.revoked_at`;
  const { rows } = await pair.db.query<{ revoked_at: number; units: bigint; last: number }>({ name: 'order', text }, [
    accountId,
    keyId,
  ]);
  const [row] = rows;
  const counts = tally(answers);
  // An address that has tried a revoked key often is told to wait.
  expect(['INVALID_API_KEY', 'RATE_LIMITED', 'ok'], JSON.stringify(counts)).toEqual(
    expect.arrayContaining(Object.keys(counts)),
  );
  expect(Number(row?.units)).toBe(counts.ok);
  // Both times are read under the wallet's lock, so they stand in the order of the commits.
  expect(row?.last).toBeLessThanOrEqual(row?.revoked_at ?? 0);
}
