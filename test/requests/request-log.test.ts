// The request log: what of a call can be looked at afterwards, by whom, and what is never kept.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { rowsOf } from '../../src/core/requests/entry.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { DAY_MS, iso } from '../../src/lib/time.ts';
import type { Input } from '../support/capabilities.ts';
import { inProcess } from '../support/in-process.ts';
import { loggedCall } from '../support/logged-call.ts';
import { postMcp, toolCall } from '../support/mcp.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
});
afterAll(() => service?.stop());

async function account(scopes: string[] | null = null) {
  const made = await createTestAccount(service.core, 100, scopes);
  const call = client(service.url, made.secret);
  return {
    ...made,
    call,
    async list(query = '') {
      const { status, body } = await call('GET', `/v1/account/requests/list${query}`);
      expect(status).toBe(200);
      return body.data;
    },
    /** A further key of the account. */
    async keyFor(only: string[]) {
      const key = await service.core.db.transaction(async (tx) =>
        createKey(
          tx,
          service.core.secrets,
          made.accountId,
          { name: null, scopes: only, expiresAtMs: null, cap: null },
          await clockNow(tx),
        ),
      );
      return client(service.url, key.secret);
    },
  };
}

test('a failed call is listed and can be looked at by its request_id; its error says where', async () => {
  const { call, list, keyId } = await account();
  const { body } = await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { a: 1 }, delay_seconds: -1 });
  const { request_id: id, trace_id: traceId, message, log_url: logUrl } = body.error;
  expect(logUrl).toBe(`${service.url}/console/requests/${id}`);
  const expected = {
    request_id: id,
    trace_id: traceId,
    capability: 'queue.publish',
    method: 'POST',
    path: '/v1/queue/publish',
    entry_form: 'rest',
    key_id: keyId,
    person_id: null,
    status: 400,
    code: 'VALIDATION_FAILED',
    message,
    param: 'delay_seconds',
    cost_usd: 0,
    replay: false,
    vendor: null,
    address: '127.0.0.0',
    input: '{"queue":"jobs","payload":{"a":1},"delay_seconds":-1}',
  };
  const { items, dropped } = await list();
  expect(items).toMatchObject([expected]);
  expect(dropped).toBe(0);
  expect(items[0].bytes_in).toBe(expected.input.length);
  expect(items[0].bytes_out).toBeGreaterThan(100);
  expect((await call('GET', `/v1/account/requests/get/${id}`)).body.data).toMatchObject(expected);
});

test('lists are narrowed by each field and go on page by page', async () => {
  const { call, list, keyId } = await account();
  for (const name of ['queue-a', 'queue-b', 'queue-c']) await call('GET', `/v1/queue/get/${name}`);
  await call('POST', '/v1/vector/collection/create', { collection: 'x', dimension: 0 });
  const paths = (page: { items: { path: string }[] }) => page.items.map(({ path }) => path);
  const newest = [
    '/v1/vector/collection/create',
    '/v1/queue/get/queue-c',
    '/v1/queue/get/queue-b',
    '/v1/queue/get/queue-a',
  ];
  expect(paths(await list())).toEqual(newest);
  const first = await list('?limit=2');
  expect(paths(first)).toEqual(newest.slice(0, 2));
  expect(paths(await list(`?limit=2&cursor=${first.next_cursor}`))).toEqual(newest.slice(2));
  for (const [query, count] of [
    ['status=404', 3],
    ['code=QUEUE_NOT_FOUND', 3],
    ['capability=vector.collection.create', 1],
    [`key_id=${keyId}`, 4],
    ['key_id=key_other', 0],
    ['entry_form=mcp', 0],
    ['entry_form=rest', 4],
    ['trace_id=none', 0],
    ['to=2020-01-01T00:00:00Z', 0],
    ['from=2020-01-01T00:00:00Z', 4],
  ] as const)
    expect([query, (await list(`?${query}`)).items.length]).toEqual([query, count]);
});

test('another account sees nothing of it, and a key only what its scopes allow', async () => {
  const { call, keyFor } = await account();
  const { request_id: id } = (await call('GET', '/v1/queue/get/none')).body.error;
  const stranger = await account();
  expect((await stranger.list('?outcome=all')).items).toEqual([]);
  expect((await stranger.call('GET', `/v1/account/requests/get/${id}`)).status).toBe(404);
  const narrow = await keyFor(['queue']);
  const refused = await narrow('GET', '/v1/queue/get/none');
  expect(refused.body.error).not.toHaveProperty('log_url');
  expect((await narrow('GET', '/v1/account/requests/list')).body.error.code).toBe('INSUFFICIENT_SCOPE');
  const reader = await keyFor(['account.requests.get']);
  expect((await reader('GET', `/v1/account/requests/get/${id}`)).status).toBe(200);
  expect((await reader('GET', '/v1/account/requests/list')).status).toBe(403);
});

test('more of a busy second is kept until a time of the account, a day ahead at most', async () => {
  const { call } = await account();
  const inHours = (hours: number) => iso(Date.now() + hours * 3_600_000);
  const set = (until: string | null) => call('PUT', '/v1/account/requests/settings', { record_all_until: until });
  expect((await set(inHours(25))).body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'record_all_until' });
  expect((await set(inHours(-1))).status).toBe(400);
  const until = inHours(1);
  expect((await set(until)).body.data).toEqual({ record_all_until: until });
  expect((await call('GET', '/v1/account/requests/settings/get')).body.data).toEqual({ record_all_until: until });
  expect((await set(null)).body.data).toEqual({ record_all_until: null });
});

test('a slow call is kept; one that waits for work is not slow', async () => {
  const { call, list, accountId } = await account();
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/queue/consume', { queue: 'jobs', wait_seconds: 1 });
  const locked = Promise.withResolvers<void>();
  const holding = service.core.db.transaction(async (tx) => {
    await tx.query({ name: '', text: 'SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE' }, [accountId]);
    locked.resolve();
    // sleeps: the call that waits becomes a slow one, by the clock.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  });
  await locked.promise;
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  await holding;
  const { items } = await list('?outcome=slow');
  expect(items).toMatchObject([{ capability: 'queue.publish', status: 200 }]);
  expect(items[0].latency_ms).toBeGreaterThanOrEqual(1_000);
});

test('a caller that disconnects is no failure of the call: not in the log, not among the errors', async () => {
  const { call, list, secret } = await account();
  expect((await call('POST', '/v1/logs/ingest', { items: [{ message: 'one' }] })).status).toBe(200);
  const log = vi.spyOn(service.core.log, 'error');
  const leaving = await inProcess(service, secret, AbortSignal.abort());
  const day = { from: iso(Date.now() - DAY_MS), to: iso(Date.now()) };
  const asked: [string, object][] = [
    ['logs.search', day],
    ['logs.histogram', day],
    ['metrics.query', { query: 'up', ...day }],
    ['analytics.trend', { ...day, series: [{ event: 'seen' }] }],
    ['errors.search', { query: 'x' }],
    ['webhooks.test', {}],
    ['queue.consume', { queue: 'jobs', wait_seconds: 1 }],
  ];
  for (const [capability, input] of asked) {
    if (!service.service.gateway.endpoints.has(capability)) continue;
    const { status, body } = await leaving(capability, input as Input);
    expect([capability, status, body.error?.code]).not.toEqual([capability, 500, 'INTERNAL_ERROR']);
  }
  const { status, body } = await leaving('logs.search', day);
  expect([status, body.error]).toMatchObject([
    503,
    { code: 'SERVICE_UNAVAILABLE', code_detail: 'client_disconnected' },
  ]);
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
  // Later than those, so that they would be there.
  await call('POST', '/v1/queue/nosuch');
  await call('POST', '/v1/queue/create', { name: '' });
  const { items } = await list();
  expect(items.map(({ status }: { status: number }) => status).filter((each: number) => each >= 500)).toEqual([]);
  const usage = await call('GET', '/v1/account/usage');
  expect(
    usage.body.data.by_capability.find((row: { capability: string }) => row.capability === 'logs.search'),
  ).toMatchObject({
    error_count: 0,
  });
});

test('writes of the account are the audit log, with their input and without secrets', async () => {
  const { call, list, keyId } = await account();
  await call('POST', '/v1/account/keys/create', { name: 'deploys' });
  await call('POST', '/v1/account/webhooks/register', {
    url: 'https://example.com/hook',
    events: ['*'],
    secret: 'a-secret-of-thirty-two-characters',
    headers: { 'X-Door': 'sesame' },
  });
  await call('POST', '/v1/account/email/verify', { code: '123456' });
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const { items } = await list('?audit=true');
  expect(items.map(({ capability }: { capability: string }) => capability)).toEqual([
    'account.email.verify',
    'account.webhooks.register',
    'account.keys.create',
  ]);
  const inputs = items.map(({ input }: { input: string }) => input).join();
  expect(inputs).toContain('deploys');
  expect(inputs).toContain('example.com');
  expect(inputs).not.toMatch(/a-secret|123456|sesame/);
  expect(items[2]).toMatchObject({ key_id: keyId, status: 200, code: null });
  await service.advance(8 * 24 * 3_600);
  // What waited as the clock was moved is of the new day.
  const left = (await list('?outcome=all')).items.map(({ capability }: { capability: string }) => capability);
  expect(left.filter((capability: string) => capability !== 'account.requests.list')).toEqual([]);
  expect((await list('?audit=true')).items).toHaveLength(3);
  expect((await call('GET', `/v1/account/requests/get/${items[2].request_id}`)).status).toBe(200);
});

test('a secret is taken out wherever it stands, also of what has the wrong shape', async () => {
  const input = { mails: [{ pass: 'open', to: 'a' }, { to: 'b' }], door: [{ pass: { deep: 'open' } }] };
  const secretFields = [
    ['mails', 'pass'],
    ['door', 'pass'],
  ];
  const [row] = await rowsOf(
    [{ ...loggedCall('acc_1', 'one'), input: JSON.stringify(input), secretFields }],
    Date.now(),
  );
  expect(row?.input).not.toContain('open');
  expect(row?.input).toMatch(/"to":"a".*"to":"b"/);
});

describe('every way in', () => {
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ';

  test('a failing call by the wire of OpenAI shows what was sent, without secrets', async () => {
    const { call, list } = await account();
    const body = { model: 'no-such-model', messages: [{ role: 'user', content: `my password=hunter2 ${secret}` }] };
    expect((await call('POST', '/v1/chat/completions', body)).status).toBe(404);
    const [item] = (await list()).items;
    expect(item).toMatchObject({ entry_form: 'openai_compat', capability: 'ai.chat', path: '/v1/chat/completions' });
    expect(item.input).toContain('no-such-model');
    expect(item.input).not.toMatch(/hunter2|abcdefghijklmnop/);
  });

  test('a failing tool of MCP', async () => {
    const { list, secret: key } = await account();
    await postMcp(`${service.url}/mcp/queue`, toolCall('queue_get', { queue: 'none' }), {
      authorization: `Bearer ${key}`,
    });
    const expected = { entry_form: 'mcp', capability: 'queue.get', path: '/mcp/queue', code: 'QUEUE_NOT_FOUND' };
    expect((await list()).items).toMatchObject([{ ...expected, input: '{"queue":"none"}' }]);
  });

  test('a body that is no JSON, or long, is not kept: its secrets would not all be found', async () => {
    const { call, list } = await account();
    await call('POST', '/v1/queue/create', '{"name": "jobs", "headers": ["Cookie", "crumbs"]');
    await call('POST', '/v1/queue/create', { name: 'x', padding: 'crumbs '.repeat(4_000) });
    const { items } = await list();
    expect(items).toMatchObject([
      { code: 'VALIDATION_FAILED', input: null },
      { code: 'MALFORMED_JSON', input: null },
    ]);
  });
});

test('at most 20,000 calls of an account are kept, and none past its day', async () => {
  const { accountId, call, list } = await account();
  const { db } = service.core;
  const nowMs = await clockNow(db);
  await db.query(
    {
      name: '',
      text: `INSERT INTO core.request_log (account_id, seq, request_id, trace_id, capability, method, path, entry_form, caller_id, status, latency_ms, cost_nanos, replay)
             SELECT account_id, $2::bigint + i, 'req_' || i, '', 'queue.get', 'GET', '/', 'rest', 'key_1', 404, 1, 0, false
               FROM core.wallet, generate_series(1, 20100) i WHERE account_id = $1`,
    },
    [accountId, sequenceAt(nowMs - 60_000)],
  );
  await call('GET', '/v1/queue/get/none');
  await list('?limit=1');
  const counted = {
    name: '',
    text: 'SELECT count(*)::int AS n, min(seq) AS first FROM core.request_log WHERE account_id = $1',
  };
  const { rows } = await db.query<{ n: number; first: bigint }>(counted, [accountId]);
  expect(rows[0]).toEqual({ n: 20_000, first: sequenceAt(nowMs - 60_000) + 102n });
  const { dropOldRequests } = await import('../../src/core/requests/store.ts');
  // Whoever uses the table meanwhile makes it give up, as the sweep would until its next run.
  await vi.waitFor(
    async () => {
      while (await dropOldRequests(db, nowMs + 9 * DAY_MS));
    },
    { timeout: 50_000, interval: 200 },
  );
  expect((await db.query<{ n: number }>(counted, [accountId])).rows[0]?.n).toBe(0);
});
