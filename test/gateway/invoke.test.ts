// Capabilities called without any HTTP object: everything that holds for a call over REST holds here, by the same code.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal, PrincipalKind } from '../../src/core/callers/principal.ts';
import type { ApiKey } from '../../src/core/keys/api-key.ts';
import { textArray } from '../../src/db/arrays.ts';
import { statement } from '../../src/db/statement.ts';
import { invoke } from '../../src/gateway/invoke.ts';
import { JsonText } from '../../src/lib/json-text.ts';
import { problem } from '../../src/problems/problem.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { errandModule } from './errands.ts';

const PUBLISH_USD = 0.00002;
const ERRAND_USD = 0.00001;

const createSessions = statement(
  'test_create_sessions',
  'CREATE TABLE core.test_session (id text PRIMARY KEY, ended text)',
);
const insertSession = statement('test_insert_session', 'INSERT INTO core.test_session (id) VALUES ($1)');
const endSession = statement('test_end_session', `UPDATE core.test_session SET ended = 'expired' WHERE id = $1`);
const readSessions = statement(
  'test_read_sessions',
  'SELECT id, ended FROM core.test_session WHERE id = ANY($1::text[])',
);

const errands = { failures: 0 };
let bench: TestService;

beforeAll(async () => {
  bench = await startTestService({ extraModules: [errandModule(errands)], env: { RATE_LIMITS: 'on' } });
});
afterAll(() => bench.stop());

const principalOf = async ({ secret }: TestAccount) => (await bench.core.keys.find(secret)) as ApiKey;

/** The principal is looked up once. */
const caller = async (account: TestAccount) => callAs(await principalOf(account));

/** Calls by capability id, as an adapter would. */
function callAs(principal: Principal) {
  return async (id: string, input: Record<string, unknown> | JsonText, idempotencyKey: string | null = null) => {
    const { gateway } = bench.service;
    const endpoint = gateway.endpoints.get(id);
    if (endpoint === undefined) throw new Error(`no capability ${id}`);
    const { signal } = new AbortController();
    const outcome = await invoke(gateway, { endpoint, principal, input, entryForm: 'rest', idempotencyKey, signal });
    return { ...outcome, body: JSON.parse(outcome.envelope) };
  };
}

async function withQueue(usd = 1, scopes: string[] | null = null) {
  const account = await createTestAccount(bench.core, usd, scopes);
  const owner = scopes === null ? account : null;
  const rest = client(bench.url, account.secret);
  if (owner !== null) await rest('POST', '/v1/queue/create', { name: 'jobs' });
  return { account, rest, call: await caller(account) };
}

const usageOf = async (rest: ReturnType<typeof client>) => {
  const { body } = await rest('GET', '/v1/account/usage');
  const rows = body.data.by_capability as { capability: string; count: number; spend_usd: number }[];
  return Object.fromEntries(rows.map((row) => [row.capability, [row.count, row.spend_usd]]));
};

describe('a capability that is invoked', () => {
  test('answers the envelope that REST answers, charged and counted alike', async () => {
    const { rest, call } = await withQueue();
    const message = { queue: 'jobs', payload: { n: 1 } };
    const overRest = await rest('POST', '/v1/queue/publish', message);
    const invoked = await call('queue.publish', message);
    expect(invoked.status).toBe(200);
    const changing = { request_id: '', trace_id: '', timestamp: '', latency_ms: 0, balance_usd: 0 };
    expect({ ...invoked.body.metadata, ...changing }).toEqual({ ...overRest.body.metadata, ...changing });
    expect(Object.keys(invoked.body)).toEqual(Object.keys(overRest.body));
    expect(Object.keys(invoked.body.metadata)).toEqual(Object.keys(overRest.body.metadata));
    expect(Object.keys(invoked.body.data)).toEqual(Object.keys(overRest.body.data));
    expect(overRest.body.metadata.balance_usd - invoked.body.metadata.balance_usd).toBeCloseTo(PUBLISH_USD, 9);
    expect((await usageOf(rest))['queue.publish']).toEqual([2, 2 * PUBLISH_USD]);
  });

  test('fails as REST does, in the same words, and costs nothing', async () => {
    const { rest, call } = await withQueue();
    const wrong = [
      ['queue.publish', 'POST', '/v1/queue/publish', { queue: 'nowhere', payload: {} }],
      ['queue.publish', 'POST', '/v1/queue/publish', { queue: 'jobs' }],
      ['queue.create', 'POST', '/v1/queue/create', { name: 'x', visibility_timeout_default: 'long' }],
      ['account.webhooks.get', 'GET', '/v1/account/webhooks/get/whk_none', undefined],
    ] as const;
    for (const [id, method, path, body] of wrong) {
      const overRest = await rest(method, path, body);
      const invoked = await call(id, body ?? { webhook_id: 'whk_none' });
      expect(invoked.status, id).toBe(overRest.status);
      const own = { request_id: '', trace_id: '', log_url: '' };
      expect({ ...invoked.body.error, ...own }).toEqual({ ...overRest.body.error, ...own });
      expect(Object.keys(invoked.body.metadata)).toEqual(Object.keys(overRest.body.metadata));
    }
    expect((await rest('GET', '/v1/account/balance')).body.data.balance_usd).toBe(1);
  });

  test('takes fields of path and query as typed members of one object', async () => {
    const { rest, call } = await withQueue();
    expect((await call('queue.get', { queue: 'jobs' })).body.data).toMatchObject({ name: 'jobs' });
    expect((await call('queue.list', { limit: 1 })).body.data.items).toHaveLength(1);
    expect((await call('queue.list', { limit: 'one' })).body.error).toMatchObject({ param: 'limit' });
    expect((await rest('GET', '/v1/queue/list?limit=one')).body.error).toMatchObject({ param: 'limit' });
  });

  test('is refused without the scope, told by the same step as over REST', async () => {
    const owner = await withQueue();
    const made = await owner.rest('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['queue:read'] });
    const reader = { ...owner.account, secret: made.body.data.key_secret };
    const call = await caller(reader);
    expect((await call('queue.get', { queue: 'jobs' })).status).toBe(200);
    expect((await call('queue.publish', { queue: 'jobs', payload: {} })).body.error).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      code_detail: 'queue:write',
    });
  });

  test('takes its tokens of the rate that REST takes', async () => {
    const { rest, call } = await withQueue();
    const statuses = new Set<number>();
    for (let i = 0; i < 400 && !statuses.has(429); i += 1)
      statuses.add((await call('queue.create', { name: `q-${i}` })).status);
    expect(statuses).toEqual(new Set([200, 429]));
    expect((await rest('POST', '/v1/queue/create', { name: 'q-more' })).status).toBe(429);
  });

  test('replays what REST answered under the same idempotency key, and the reverse', async () => {
    const { rest, call } = await withQueue();
    const message = { queue: 'jobs', payload: { n: 1 } };
    const first = await rest('POST', '/v1/queue/publish', { ...message, idempotency_key: 'a' });
    const again = await call('queue.publish', message, 'a');
    expect(again.body.data).toEqual(first.body.data);
    expect(again.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    const made = await call('queue.update', { queue: 'jobs', max_retries: 7, idempotency_key: 'b' });
    const repeated = await rest('PATCH', '/v1/queue/update/jobs', { max_retries: 7 }, { 'idempotency-key': 'b' });
    expect([made.status, repeated.status]).toEqual([200, 200]);
    expect(repeated.body.metadata.idempotent_replay).toBe(true);
    expect((await call('queue.publish', { queue: 'jobs', payload: { n: 2 } }, 'a')).body.error.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
    expect((await usageOf(rest))['queue.publish']?.[1]).toBe(PUBLISH_USD);
  });

  test('publishes a payload byte for byte, as it stands in the text it was given', async () => {
    const { rest, call } = await withQueue();
    const payload = '{ "b" : 1.0,\t"a":12345678901234567890, "e":"\\u00e9", "b":2 }';
    await call('queue.publish', new JsonText(`{"queue":"jobs", "payload":${payload}}`));
    await call('queue.publish', { queue: 'jobs', payload: new JsonText(payload) });
    const { text } = await rest('POST', '/v1/queue/consume', { queue: 'jobs', max_messages: 2 });
    expect(text.split(`"payload":${payload}`)).toHaveLength(3);
  });

  test('is refused by an empty wallet and by a budget, with nothing written', async () => {
    const { rest, call } = await withQueue(1);
    await rest('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: PUBLISH_USD });
    expect((await call('queue.publish', { queue: 'jobs', payload: {} })).status).toBe(200);
    const refused = await call('queue.publish', { queue: 'jobs', payload: {} });
    expect(refused.body.error).toMatchObject({ code: 'INSUFFICIENT_CREDIT', code_detail: 'budget_daily' });
    expect((await call('queue.stats', { queue: 'jobs' })).body.data.message_count).toBe(1);
  });

  test('is refused in the commit when its key was revoked after it was looked up', async () => {
    const { rest, account, call } = await withQueue();
    const admin = await rest('POST', '/v1/account/keys/create', { name: 'admin' });
    await client(bench.url, admin.body.data.key_secret)('DELETE', `/v1/account/keys/revoke/${account.keyId}`);
    const refused = await call('queue.publish', { queue: 'jobs', payload: {} });
    expect(refused.body.error).toMatchObject({ code: 'INVALID_API_KEY', code_detail: 'revoked' });
  });
});

// What a person's session will be: a principal of a kind that only this test knows.
describe('a principal of another kind', () => {
  let people: PrincipalKind;
  const end = (id: string) => bench.core.db.query(endSession, [id]);

  beforeAll(async () => {
    await bench.core.db.query(createSessions, []);
    people = {
      name: 'session',
      again: async (session) => session,
      async readLive(tx, _accounts, sessions) {
        const { rows } = await tx.query<{ id: string; ended: 'expired' | null }>(readSessions, [
          textArray(sessions.map(({ id }) => id)),
        ]);
        return sessions.map(({ id, scopes }) => {
          const row = rows.find((each) => each.id === id);
          return row && { id, scopes, ended: row.ended, expiresAtMs: null, isCurrent: true, cap: null };
        });
      },
      refusal: () => problem('UNAUTHORIZED', { message: 'The session has ended.' }),
    };
  });

  async function signedIn() {
    const { account, rest } = await withQueue();
    const { accountId, projectId, tier } = await principalOf(account);
    const id = `sess_${accountId}`;
    await bench.core.db.query(insertSession, [id]);
    const own = { kind: people, id, accountId, projectId, tier, scopes: null };
    return {
      rest,
      call: callAs({
        ...own,
        suspended: false,
        isCurrent: true,
        hasSpendCap: false,
        rulesVersion: null,
        signedInAtMs: null,
      }),
      id,
    };
  }

  test('pays from the same wallet, and is booked under its own id', async () => {
    const { rest, call, id } = await signedIn();
    expect((await call('queue.publish', { queue: 'jobs', payload: {} })).body.metadata.cost_usd).toBe(PUBLISH_USD);
    const { body } = await rest('GET', '/v1/account/ledger/list?capability=queue.publish');
    expect(body.data.items[0]).toMatchObject({ key_id: id, amount_usd: -PUBLISH_USD });
  });

  test('rides with keys in one commit, and is refused in it once it has ended', async () => {
    const { rest, call, id } = await signedIn();
    await end(id);
    const message = { queue: 'jobs', payload: {} };
    const [ended, living] = await Promise.all([
      call('queue.publish', message),
      rest('POST', '/v1/queue/publish', message),
    ]);
    expect(ended.body.error).toMatchObject({ code: 'UNAUTHORIZED', message: 'The session has ended.' });
    expect(living.status).toBe(200);
    expect((await rest('GET', '/v1/account/balance')).body.data.balance_usd).toBeCloseTo(1 - PUBLISH_USD, 9);
  });
});

describe('a capability that calls another', () => {
  test('pays for both, each counted once, in one trace', async () => {
    const { rest } = await withQueue();
    const answer = await rest('POST', '/v1/errand/run/jobs', { about: { n: 7 } });
    expect(answer.status).toBe(200);
    expect(answer.body.metadata.cost_usd).toBeCloseTo(PUBLISH_USD + ERRAND_USD, 9);
    expect(await usageOf(rest)).toMatchObject({
      'queue.publish': [1, PUBLISH_USD],
      'errand.run': [1, ERRAND_USD],
    });
    const [message] = (await rest('POST', '/v1/queue/consume', { queue: 'jobs' })).body.data.items;
    expect(message).toMatchObject({ payload: { n: 7 }, message_id: answer.body.data.message_id });
    expect((await rest('GET', '/v1/account/balance')).body.data.balance_usd).toBeCloseTo(
      1 - answer.body.metadata.cost_usd,
      9,
    );
  });

  test('repeats nothing under its idempotency key, also when it failed after the call was made', async () => {
    const { rest } = await withQueue();
    errands.failures = 1;
    const body = { about: { n: 7 }, idempotency_key: 'once' };
    const failed = await rest('POST', '/v1/errand/run/jobs', body);
    expect(failed.status).toBe(503);
    expect(failed.body.metadata.cost_usd).toBe(PUBLISH_USD);
    const second = await rest('POST', '/v1/errand/run/jobs', body);
    expect(second.body.metadata).toMatchObject({ cost_usd: ERRAND_USD, idempotent_replay: false });
    expect((await rest('POST', '/v1/errand/run/jobs', body)).body.metadata).toMatchObject({
      cost_usd: 0,
      idempotent_replay: true,
    });
    expect((await rest('GET', '/v1/queue/stats/jobs')).body.data.message_count).toBe(1);
  });

  test('may do no more than its key', async () => {
    const { rest } = await withQueue();
    const made = await rest('POST', '/v1/account/keys/create', { name: 'errands', scopes: ['errand'] });
    const narrow = client(bench.url, made.body.data.key_secret);
    expect((await narrow('POST', '/v1/errand/run/jobs', { about: {} })).body.error).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      code_detail: 'queue:write',
    });
  });

  test('fails with what the other failed with', async () => {
    const { rest } = await withQueue();
    expect((await rest('POST', '/v1/errand/run/nowhere', { about: {} })).body.error.code).toBe('QUEUE_NOT_FOUND');
  });

  test('ends when it calls itself too deep', async () => {
    const { rest } = await withQueue();
    expect((await rest('POST', '/v1/errand/without_end', {})).body.error.code).toBe('INTERNAL_ERROR');
  });
});
