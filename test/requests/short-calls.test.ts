// Short calls that succeed: each is in the log, page by page among the others, and of a busy second a sample.
import { beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import type { LoggedCall } from '../../src/core/requests/entry.ts';
import { RequestLog } from '../../src/core/requests/request-log.ts';
import { type RequestFilter, type StoredRequest, unkeptIn } from '../../src/core/requests/store.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { CallBlocks } from '../../src/modules/account/requests/archive.ts';
import { callsKind, draftsOf, StoredCalls } from '../../src/modules/account/requests/kind.ts';
import { loggedCall } from '../support/logged-call.ts';
import { client, createTestAccount, type TestService } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

let service: Pick<TestService, 'core' | 'url'>;
beforeAll(async () => {
  service = await sharedService();
});

async function account() {
  const made = await createTestAccount(service.core, 100);
  const call = client(service.url, made.secret);
  const list = async (query: string) => (await call('GET', `/v1/account/requests/list?outcome=all${query}`)).body.data;
  return { ...made, call, list };
}

const shortCall = (accountId: string, name: string): LoggedCall => ({
  ...loggedCall(accountId, name),
  status: 200,
  code: null,
});

const bounds = (perSecond: number, shortCallsWaiting = admission.account.shortCallsWaiting) => ({
  all: admission.all,
  account: { ...admission.account, shortCallsPerSecond: perSecond, shortCallsWaiting },
});

const filter: RequestFilter = {
  fromMs: null,
  toMs: null,
  outcome: 'all',
  status: null,
  code: null,
  capability: null,
  callerId: null,
  entryForm: null,
  traceId: null,
};

test('every call is listed in the order of its end, also across kinds, page by page, and found by its ID', async () => {
  const { call, list, keyId } = await account();
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('GET', '/v1/queue/get/none');
  const { body } = await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  await call('POST', '/v1/account/keys/create', { name: 'second' });
  await call('GET', '/v1/queue/get/jobs');
  const expected = ['queue.get', 'account.keys.create', 'queue.publish', 'queue.get', 'queue.create'];
  const names = (page: { items: { capability: string }[] }) => page.items.map(({ capability }) => capability);
  expect(names(await list('&to=2100-01-01T00:00:00Z')).slice(-5)).toEqual(expected);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await list(`&limit=2&entry_form=rest&to=2100-01-01T00:00:00Z${cursor}`);
    seen.push(...names(page).filter((name) => name !== 'account.requests.list'));
    if (!page.has_more) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(seen).toEqual(expected);
  const id = body.metadata.request_id;
  expect((await call('GET', `/v1/account/requests/get/${id}`)).body.data).toMatchObject({
    request_id: id,
    capability: 'queue.publish',
    method: 'POST',
    path: '/v1/queue/publish',
    key_id: keyId,
    status: 200,
    code: null,
    message: null,
    param: null,
    input: null,
    cost_usd: 0.00002,
    replay: false,
    address: '127.0.0.0',
  });
  const stranger = await account();
  expect((await stranger.call('GET', `/v1/account/requests/get/${id}`)).status).toBe(404);
  expect(names(await stranger.list('&capability=queue.publish'))).toEqual([]);
});

test('lists are narrowed by each field', async () => {
  const { call, list, keyId } = await account();
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const { body } = await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  for (const [query, count] of [
    ['capability=queue.publish', 1],
    ['capability=queue.publish&status=200', 1],
    ['capability=queue.publish&status=201', 0],
    [`capability=queue.publish&key_id=${keyId}`, 1],
    ['capability=queue.publish&key_id=key_other', 0],
    ['capability=queue.publish&entry_form=mcp', 0],
    [`trace_id=${body.metadata.trace_id}`, 1],
    ['capability=queue.publish&to=2020-01-01T00:00:00Z', 0],
    ['capability=queue.publish&code=NOT_FOUND', 0],
  ] as const)
    expect([query, (await list(`&${query}`)).items.length]).toEqual([query, count]);
});

test('of a busy second a sample is kept, and the list counts the rest', async () => {
  const { accountId, list } = await account();
  const log = new RequestLog(service.core.db, bounds(3));
  log.archive = new CallBlocks(service.core);
  const kept = Array.from({ length: 10 }, (_, i) => i).filter((i) => {
    const isKept = log.samples(accountId);
    if (isKept) log.addShort(shortCall(accountId, `of_sample_${i}`));
    return isKept;
  });
  expect(kept.length).toBeGreaterThanOrEqual(3);
  await Promise.all([log.flush(), log.flushShort({ accountId })]);
  const page = await list('&capability=queue.get');
  expect(page.items).toHaveLength(kept.length);
  expect(page).toMatchObject({ dropped: 0, sampled_out: 10 - kept.length });
  expect(await unkeptIn(service.core.db, accountId, 0, null)).toEqual({ dropped: 0, sampledOut: 10 - kept.length });
});

test('what could not be written waits, and is there once however often it was written', async () => {
  const { accountId } = await account();
  const archive = new CallBlocks(service.core);
  const log = new RequestLog(service.core.db, bounds(50));
  let isAway = true;
  log.archive = {
    write: async (rows) => {
      await archive.write(rows);
      // As of a commit whose answer is lost.
      if (isAway) throw new Error('the connection is lost');
    },
    before: (...asked) => archive.before(...asked),
    find: (...asked) => archive.find(...asked),
    follow: (...asked) => archive.follow(...asked),
  };
  log.addShort(shortCall(accountId, 'once'));
  await expect(log.flushShort('all')).rejects.toThrow('the connection is lost');
  log.addShort(shortCall(accountId, 'later'));
  isAway = false;
  await log.flushShort('all');
  const { rows } = await archive.before(accountId, null, { filter, limit: 10 }, new AbortController().signal);
  expect(rows.map(({ request_id: id }) => id)).toEqual(['req_later', 'req_once']);
});

test('a reader waits for a write that another began; calls without room after a failed write are counted', async () => {
  const { accountId } = await account();
  const log = new RequestLog(service.core.db, bounds(50, 2));
  const archive = new CallBlocks(service.core);
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  log.archive = {
    write: async (rows) => {
      begun.resolve();
      await held.promise;
      await archive.write(rows);
    },
    before: (...asked) => archive.before(...asked),
    find: (...asked) => archive.find(...asked),
    follow: (...asked) => archive.follow(...asked),
  };
  log.addShort(shortCall(accountId, 'taken'));
  const first = log.flushShort('all');
  await begun.promise;
  let isRead = false;
  const readers = [log.flushShort({ accountId }), log.flushShort('due')];
  const reader = (readers[0] as Promise<void>).then(() => {
    isRead = true;
  });
  // All who wait share one write.
  expect(readers[0]).toBe(readers[1]);
  await new Promise(setImmediate);
  expect(isRead).toBe(false);
  // Two more fill the room; the one that comes back then finds none.
  log.addShort(shortCall(accountId, 'second'));
  log.addShort(shortCall(accountId, 'third'));
  held.reject(new Error('the connection is lost'));
  await expect(first).rejects.toThrow('the connection is lost');
  await reader.catch(() => undefined);
  await log.flush();
  expect(await unkeptIn(service.core.db, accountId, 0, null)).toMatchObject({ sampledOut: 1 });
});

test('blocks hold every field, an hour each, and merge without a double', () => {
  const atMs = Date.UTC(2026, 0, 1, 11, 59, 59, 999);
  const call = (i: number, more: Partial<StoredRequest> = {}): StoredRequest => ({
    seq: sequenceAt(atMs + i) + BigInt(i),
    request_id: `req_${i}`,
    trace_id: 'f'.repeat(32),
    capability: 'queue.get',
    method: 'GET',
    path: '/v1/queue/get/größe',
    entry_form: 'rest',
    caller_id: 'key_1',
    status: 200,
    code: null,
    message: null,
    param: null,
    input: null,
    latency_ms: i,
    cost_nanos: 20_000n,
    bytes_in: null,
    bytes_out: 0n,
    replay: false,
    vendor: null,
    address: '127.0.0.0',
    ...more,
  });
  const calls = [call(0), call(1, { replay: true, vendor: 'sandbox', bytes_in: 12n, address: null, cost_nanos: 0n })];
  const drafts = draftsOf([...calls, call(0)]);
  expect(
    drafts.map(({ fromMs, records }) => [Math.floor(fromMs / HOUR_MS) - Math.floor(atMs / HOUR_MS), records]),
  ).toEqual([
    [0, 1],
    [1, 1],
  ]);
  const stored = drafts.map((draft) => ({ ...draft, blockId: 1n, level: 0 }));
  expect(stored.flatMap((block) => new StoredCalls(block).all())).toEqual(calls);
  const merged = callsKind.merge([...stored, ...stored]).map((draft) => ({ ...draft, blockId: 2n, level: 1 }));
  expect(merged.flatMap((block) => new StoredCalls(block).all())).toEqual(calls);
});
