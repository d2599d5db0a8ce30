// Spend caps of keys over HTTP, on two processes' worth of services that share one database.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleCap } from '../../src/core/callers/key-cap.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const PUBLISH_USD = 0.00002;
let one: TestService;
let two: TestService;
let account: TestAccount;
let admin: Client;

beforeAll(async () => {
  // own service: moves its clock
  one = await startTestService();
  two = await startTestService({ database: one.database });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
beforeEach(async () => {
  account = await createTestAccount(one.core, 1);
  admin = client(one.url, account.secret);
  await admin('POST', '/v1/queue/create', { name: 'jobs' });
});

async function makeKey(fields: object): Promise<{ id: string; secret: string; calls: readonly [Client, Client] }> {
  const { status, body, text } = await admin('POST', '/v1/account/keys/create', fields);
  expect(status, text).toBe(200);
  const secret = body.data.key_secret;
  return { id: body.data.key_id, secret, calls: [client(one.url, secret), client(two.url, secret)] };
}
const publish = (call: Client) => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
const update = (id: string, fields: object) => admin('PATCH', `/v1/account/keys/update/${id}`, fields);
const recordOf = async (id: string) =>
  (await admin('GET', '/v1/account/keys/list')).body.data.items.find((key: { key_id: string }) => key.key_id === id);
const codes = (replies: readonly Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const code = status === 200 ? 'ok' : `${status} ${body.error.code} ${body.error.code_detail}`;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
};
const windowsOf = {
  name: 'test_windows',
  text: 'SELECT day_start AS day, month_start AS month FROM core.wallet WHERE account_id = $1',
};
const findings = () => examineAccount({ db: one.core.db, secrets: null, modules: [] }, account.accountId);

describe('a key with a spend cap', () => {
  test('spends exactly its cap, however many calls come at once on how many processes, and other keys go on', async () => {
    const { id, calls } = await makeKey({ spend_cap_usd: 100 * PUBLISH_USD });
    const replies = await Promise.all(Array.from({ length: 300 }, (_, i) => publish(calls[i % 2] as Client)));
    expect(codes(replies)).toEqual({ ok: 100, '402 INSUFFICIENT_CREDIT key_cap': 200 });
    expect(await recordOf(id)).toMatchObject({
      spend_cap_usd: 0.002,
      spend_cap_period: 'total',
      spend_used_usd: 0.002,
      spend_held_usd: 0,
      spend_window_end: null,
    });
    expect((await publish(admin)).status).toBe(200);
    expect((await admin('GET', '/v1/queue/stats/jobs')).body.data.message_count).toBe(101);
    expect((await admin('GET', '/v1/account/balance')).body.data.balance_usd).toBeCloseTo(1 - 101 * PUBLISH_USD, 9);
    expect(await findings()).toEqual([]);
  });

  test('is told what it needs, what is left, and what lifts the cap; never when to try again', async () => {
    const { calls } = await makeKey({ spend_cap_usd: 0.00003, spend_cap_period: 'daily' });
    expect((await publish(calls[0])).status).toBe(200);
    const { status, headers, body } = await publish(calls[1]);
    const [midnight] = [new Date(Math.ceil(Date.parse(body.metadata.timestamp) / 86_400_000) * 86_400_000)];
    expect([status, headers.get('retry-after'), body.error.retry_after_ms]).toEqual([402, null, undefined]);
    expect(body.error).toMatchObject({
      code: 'INSUFFICIENT_CREDIT',
      code_detail: 'key_cap',
      retryable: false,
      shortfall: {
        needed_usd: 0.00002,
        left_usd: 0.00001,
        cap_usd: 0.00003,
        window_end: midnight?.toISOString(),
        lifted_by: 'account.keys.update',
      },
      message:
        'The call needs 0.00002 USD; the spend cap of this key of 0.00003 USD has 0.00001 USD left ' +
        `until ${midnight?.toISOString()}. Raise it with account.keys.update.`,
    });
  });

  test('of a day spends again the next day', async () => {
    const { id, calls } = await makeKey({ spend_cap_usd: PUBLISH_USD, spend_cap_period: 'daily' });
    expect(codes([await publish(calls[0]), await publish(calls[1])])).toEqual({
      ok: 1,
      '402 INSUFFICIENT_CREDIT key_cap': 1,
    });
    await one.advance(86_400);
    expect(await recordOf(id)).toMatchObject({ spend_used_usd: 0 });
    expect((await publish(calls[1])).status).toBe(200);
    expect(await recordOf(id)).toMatchObject({ spend_used_usd: PUBLISH_USD });
    expect(await findings()).toEqual([]);
  });

  test.each([
    ['daily', 'a day before', false],
    ['daily', 'this window', true],
    ['monthly', 'a month before', false],
    ['monthly', 'a day before', true],
    ['total', 'a month before', true],
  ])(
    '%s: what is captured of a hold of %s counts in the window of now: %s',
    async (spend_cap_period, begun, counts) => {
      const { id, calls } = await makeKey({ spend_cap_usd: 1, spend_cap_period });
      await publish(calls[0]);
      const { rows } = await one.core.db.query<{ day: number; month: number }>(windowsOf, [account.accountId]);
      const [{ day, month } = { day: 0, month: 0 }] = rows;
      const windows = {
        day_start: begun === 'this window' ? day : day - 86_400_000,
        month_start: begun === 'a month before' ? month - 28 * 86_400_000 : month,
      };
      const hold = { key_id: id, amount_nanos: 0n, ...windows };
      await one.core.db.transaction((tx) => settleCap(tx, account.accountId, hold, 70_000n));
      expect(await recordOf(id)).toMatchObject({ spend_used_usd: counts ? 0.00009 : PUBLISH_USD });
    },
  );

  test('of 0 can call what is free, and nothing else', async () => {
    const { calls } = await makeKey({ spend_cap_usd: 0 });
    expect((await calls[0]('GET', '/v1/queue/stats/jobs')).status).toBe(200);
    expect(codes([await publish(calls[0])])).toEqual({ '402 INSUFFICIENT_CREDIT key_cap': 1 });
  });

  test('is bound in large effects, searches and scheduled runs as well', async () => {
    await admin('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 1 });
    const vectors = Array.from({ length: 150 }, (_, i) => ({ id: `v${i}`, embedding: [i + 1] }));
    const { id, calls } = await makeKey({ spend_cap_usd: 0.00033 });
    const upsert = (call: Client) => call('POST', '/v1/vector/upsert', { collection: 'docs', vectors });
    const query = (call: Client) => call('POST', '/v1/vector/query', { collection: 'docs', embedding: [1] });
    const upserts = await Promise.all([0, 1, 0, 1].map((i) => upsert(calls[i] as Client)));
    expect(codes(upserts)).toEqual({ ok: 2, '402 INSUFFICIENT_CREDIT key_cap': 2 });
    expect(await recordOf(id)).toMatchObject({ spend_used_usd: 0.0003, spend_held_usd: 0 });
    const queries = await Promise.all([0, 1, 0, 1, 0].map((i) => query(calls[i] as Client)));
    expect(codes(queries)).toEqual({ ok: 3, '402 INSUFFICIENT_CREDIT key_cap': 2 });
    expect(await recordOf(id)).toMatchObject({ spend_used_usd: 0.00033, spend_held_usd: 0 });
    expect(await findings()).toEqual([]);
  });
});

describe('a cap that is set later', () => {
  test('counts at once what the key has spent already, in each period, and is removed by null', async () => {
    const { id, calls } = await makeKey({});
    for (let i = 0; i < 3; i += 1) await publish(calls[i % 2] as Client);
    expect(await recordOf(id)).toMatchObject({ spend_cap_usd: null, spend_used_usd: null, spend_cap_period: null });
    for (const period of ['daily', 'total', 'monthly']) {
      const { body } = await update(id, { spend_cap_usd: 4 * PUBLISH_USD, spend_cap_period: period });
      expect(body.data).toMatchObject({ spend_cap_period: period, spend_used_usd: 0.00006 });
    }
    expect(codes([await publish(calls[0]), await publish(calls[1])])).toEqual({
      ok: 1,
      '402 INSUFFICIENT_CREDIT key_cap': 1,
    });
    const raised = await update(id, { spend_cap_usd: 5 * PUBLISH_USD });
    expect(raised.body.data).toMatchObject({ spend_cap_period: 'monthly', spend_used_usd: 4 * PUBLISH_USD });
    expect((await publish(calls[0])).status).toBe(200);
    const removed = await update(id, { spend_cap_usd: null });
    expect(removed.body.data).toMatchObject({ spend_cap_usd: null, spend_cap_period: null, spend_used_usd: null });
    expect((await publish(calls[1])).status).toBe(200);
    expect(await findings()).toEqual([]);
  });

  test.each([
    [{ spend_cap_usd: -1 }, 'VALIDATION_FAILED', 'spend_cap_usd'],
    [{ spend_cap_usd: 1e-10 }, 'VALIDATION_FAILED', 'spend_cap_usd'],
    [{ spend_cap_usd: '1' }, 'VALIDATION_FAILED', 'spend_cap_usd'],
    [{ spend_cap_usd: 1, spend_cap_period: 'hourly' }, 'VALIDATION_FAILED', 'spend_cap_period'],
    [{ spend_cap_period: 'daily' }, 'INVALID_REQUEST', 'spend_cap_period'],
    [{ spend_cap_usd: null, spend_cap_period: 'daily' }, 'INVALID_REQUEST', 'spend_cap_period'],
  ])('%j is refused with %s at %s', async (fields, code, param) => {
    const { id } = await makeKey({});
    expect((await update(id, fields)).body.error).toMatchObject({ code, param });
    expect((await admin('POST', '/v1/account/keys/create', fields)).body.error).toMatchObject({ code, param });
  });
});

describe('a way around the cap', () => {
  test('is not to change it, to make keys that spend, or to take over one that does', async () => {
    const { id, calls } = await makeKey({ spend_cap_usd: PUBLISH_USD });
    const other = await makeKey({});
    const [call] = calls;
    const refused = async (method: string, path: string, body: object) => {
      const { status, body: answer } = await call(method, `/v1/account/keys/${path}`, body);
      expect([path, status, answer.error?.code, answer.error?.code_detail]).toEqual([
        path,
        403,
        'SCOPE_ESCALATION',
        'spend_cap',
      ]);
    };
    await refused('PATCH', `update/${id}`, { spend_cap_usd: null });
    await refused('PATCH', `update/${id}`, { spend_cap_period: 'daily' });
    await refused('POST', 'create', {});
    await refused('POST', 'create', { spend_cap_usd: PUBLISH_USD });
    await refused('POST', `rotate/${other.id}`, {});
    await refused('POST', `suspected_compromise/${other.id}`, {});
    await refused('POST', `suspected_compromise/${id}`, { confirmed_leak: true });
    expect((await call('POST', '/v1/account/keys/create', { spend_cap_usd: 0 })).status).toBe(200);
    expect((await call('PATCH', `/v1/account/keys/update/${id}`, { name: 'renamed' })).status).toBe(200);
    const rotated = await call('POST', `/v1/account/keys/rotate/${id}`, { grace_hours: 1 });
    expect(rotated.body.data).toMatchObject({ key_id: id, spend_cap_usd: PUBLISH_USD });
    // Both secrets are one key.
    const renewed = client(one.url, rotated.body.data.key_secret);
    const replies = await Promise.all([publish(call), publish(renewed), publish(calls[1])]);
    expect(codes(replies)).toEqual({ ok: 1, '402 INSUFFICIENT_CREDIT key_cap': 2 });
  });

  test('a replacement after a leak has the same cap', async () => {
    const { id } = await makeKey({ spend_cap_usd: 2, spend_cap_period: 'monthly' });
    const { body } = await admin('POST', `/v1/account/keys/suspected_compromise/${id}`, { confirmed_leak: true });
    expect(body.data.replacement).toMatchObject({ spend_cap_usd: 2, spend_cap_period: 'monthly', spend_used_usd: 0 });
  });
});

describe('what the wallet and the budget have left', () => {
  test('is told only to keys that may ask for it', async () => {
    const poor = await createTestAccount(one.core, 0);
    const owner = client(one.url, poor.secret);
    await owner('POST', '/v1/queue/create', { name: 'jobs' });
    const { body } = await owner('POST', '/v1/account/keys/create', { scopes: ['queue.publish'] });
    const narrow = client(one.url, body.data.key_secret);
    const none = { left_usd: null, cap_usd: null };
    expect((await publish(owner)).body.error).toMatchObject({
      code_detail: 'balance',
      shortfall: { needed_usd: 0.00002, left_usd: 0, cap_usd: null, window_end: null, lifted_by: 'account.topup' },
    });
    expect((await publish(narrow)).body.error.shortfall).toMatchObject(none);
    await owner('PUT', '/v1/account/budget/set', { period: 'monthly', hard_cap_usd: 0.00001 });
    const told = (await publish(owner)).body.error;
    expect(told).toMatchObject({
      code_detail: 'budget_monthly',
      shortfall: { needed_usd: 0.00002, left_usd: 0.00001, cap_usd: 0.00001, lifted_by: 'account.budget.set' },
    });
    expect(told.shortfall.window_end).toMatch(/-01T00:00:00.000Z$/);
    expect(told.message).toContain('0.00001 USD left until ');
    const hidden = (await publish(narrow)).body.error;
    expect(hidden.shortfall).toMatchObject({ ...none, window_end: told.shortfall.window_end });
    expect(hidden.message).not.toContain('0.00001');
  });
});
