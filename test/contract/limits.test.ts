// Rates: what is limited, how it is said, and what never is (contract §6).
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mintSecret } from '../../src/core/keys/api-key.ts';
import { RateLimiter } from '../../src/gateway/limits/rate-limiter.ts';
import { signedIn } from '../support/console.ts';
import { expectFailure } from '../support/envelope.ts';
import { client, createTestAccount, type Reply, startTestService, type TestService } from '../support/service.ts';

let service: TestService;

/** The limiter's clock stands still: what is left does not depend on how long calls take. */
function stopLimiterClock(): void {
  const { take, spend } = RateLimiter.prototype;
  const standsAtMs = performance.now();
  vi.spyOn(RateLimiter.prototype, 'take').mockImplementation(function (
    this: RateLimiter,
    account,
    tier,
    of,
    nowMs = standsAtMs,
  ) {
    return take.call(this, account, tier, of, nowMs);
  });
  vi.spyOn(RateLimiter.prototype, 'spend').mockImplementation(function (
    this: RateLimiter,
    account,
    tier,
    of,
    tokens,
    nowMs = standsAtMs,
  ) {
    return spend.call(this, account, tier, of, tokens, nowMs);
  });
}

beforeAll(async () => {
  stopLimiterClock();
  service = await startTestService({ env: { RATE_LIMITS: 'on', TRUST_PROXY: 'loopback' } });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await service.stop();
});

/** `count` calls, 50 at a time. */
async function many(count: number, act: () => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = [];
  while (replies.length < count) {
    replies.push(...(await Promise.all(Array.from({ length: Math.min(50, count - replies.length) }, act))));
  }
  return replies;
}

async function owner() {
  const { secret } = await createTestAccount(service.core);
  return client(service.url, secret);
}

const limited = (replies: Reply[]) => replies.filter(({ status }) => status === 429);

describe('free reads', () => {
  test('a burst of four seconds passes, then 429 says when to come back; other accounts go on', async () => {
    const [call, other] = [await owner(), await owner()];
    const replies = await many(450, () => call('GET', '/v1/discovery/nothing'));
    const refused = limited(replies);
    expect(refused).toEqual(replies.slice(400));
    expect(refused).toHaveLength(50);
    for (const reply of refused.slice(0, 5)) {
      expectFailure(reply, service.url);
      expect(reply.body.error).toMatchObject({
        code: 'RATE_LIMITED',
        retryable: true,
        retry_after_ms: expect.any(Number),
      });
      expect(Number(reply.headers.get('retry-after'))).toBe(1);
      expect(reply.headers.get('ratelimit')).toMatch(/^"reads";r=0;t=\d+$/);
    }
    expect((await other('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('every answer tells the policy and what is left', async () => {
    const call = await owner();
    const { headers } = await call('GET', '/v1/account/balance');
    expect(headers.get('ratelimit-policy')).toBe('"reads";q=100;w=1');
    expect(headers.get('ratelimit')).toBe('"reads";r=399;t=1');
  });
});

test('what an open page of the console fetches again counts as the calls that it makes', async () => {
  const { secret } = await createTestAccount(service.core);
  const visitor = await signedIn(service.url, secret);
  const left = async () => {
    const { headers } = await client(service.url, secret)('GET', '/v1/account/balance');
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  };
  // What stands around every page is read then, and kept for a while.
  await visitor.get('/console/queues');
  const before = await left();
  const { text } = await visitor.get('/console/queues', { 'x-qm-refetch': '1' });
  const calls = Number(/as curl \((\d+) call/.exec(text)?.[1]);
  expect(calls).toBeGreaterThan(0);
  // The last one is this test's own.
  expect(before - (await left())).toBe(calls + 1);
});

describe('management writes', () => {
  test('120 a minute, the 121st is told to wait; reads and billable calls go on', async () => {
    const call = await owner();
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    const replies = await many(125, () => call('POST', '/v1/queue/purge/nothing'));
    // One was spent on the queue.
    expect(limited(replies)).toHaveLength(6);
    const [refused] = limited(replies) as [Reply];
    expect(refused.headers.get('ratelimit-policy')).toBe('"writes";q=120;w=60');
    expect((await call('GET', '/v1/account/balance')).status).toBe(200);
    expect(limited(await many(150, () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} })))).toEqual(
      [],
    );
  });
});

describe('what costs more takes more of the rate', () => {
  const left = ({ headers }: Reply) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

  test('a long answer: a few of them use a burst up, then 429 says when to come back', async () => {
    const [call, other] = [await owner(), await owner()];
    const dimension = 256;
    await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension });
    const embedding = Array.from({ length: dimension }, (_, i) => i / 3);
    const ids = Array.from({ length: 500 }, (_, i) => `v${i}`);
    await call('POST', '/v1/vector/upsert', { collection: 'docs', vectors: ids.map((id) => ({ id, embedding })) });
    const fetch = (count: number) =>
      call('POST', '/v1/vector/fetch', { collection: 'docs', ids: ids.slice(0, count), include_values: true });
    const one = await fetch(1);
    expect([one.status, left(one)]).toEqual([200, 399]);
    const all = await fetch(500);
    expect(all.text.length).toBeGreaterThan(1_500_000);
    const taken = left(one) - left(all);
    expect(taken).toBeGreaterThan(20);
    const replies = await many(50, () => fetch(500));
    const passed = replies.filter(({ status }) => status === 200).length;
    expect(passed + limited(replies).length).toBe(50);
    const refused = await fetch(1);
    expect(refused.status).toBe(429);
    const waitSeconds = Number(refused.headers.get('retry-after'));
    expect(waitSeconds).toBeGreaterThan(1);
    expect(waitSeconds).toBeLessThanOrEqual(61);
    expect((await other('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('a long body', async () => {
    const call = await owner();
    const write = (bytes: number) => {
      const body = JSON.stringify({ collection: 'none', ids: ['a'] });
      return call('DELETE', '/v1/vector/delete', body + ' '.repeat(bytes - body.length));
    };
    const replies = [await write(100), await write(16 * 1024), await write(512 * 1024)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(replies.map(left)).toEqual([119, 117, 84]);
  });

  test('work that finds nothing: delete_by_filter by what it looks at', async () => {
    const call = await owner();
    await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 1, metric: 'dotproduct' });
    for (let part = 0; part < 3; part += 1) {
      const vectors = Array.from({ length: 1_000 }, (_, i) => ({
        id: `${part}-${i}`,
        embedding: [1],
        metadata: { i },
      }));
      await call('POST', '/v1/vector/upsert', { collection: 'docs', vectors });
    }
    const before = left(await call('POST', '/v1/queue/purge/nothing'));
    const reply = await call('POST', '/v1/vector/delete_by_filter', { collection: 'docs', filter: { i: -1 } });
    expect(reply.body.data.deleted).toBe(0);
    expect(before - left(reply)).toBeGreaterThanOrEqual(3);
  });

  test('a debt ends within a minute, however much was taken', () => {
    const limiter = new RateLimiter();
    limiter.spend('acct', 'standard', 'reads', 1e9, 0);
    expect(limiter.take('acct', 'standard', 'reads', 0)).toMatchObject({ allowed: false, retryAfterMs: 60_010 });
    expect(limiter.take('acct', 'standard', 'reads', 60_010).allowed).toBe(true);
    limiter.spend('acct', 'standard', 'writes', 1e9, 0);
    expect(limiter.take('acct', 'standard', 'writes', 61_000).allowed).toBe(true);
    expect(limiter.take('other', 'standard', 'writes', 0).allowed).toBe(true);
  });
});

describe('consume, ack, nack and extend', () => {
  test.each([
    ['consume', {}],
    ['ack', { receipt_handle: 'none' }],
    ['nack', { receipt_handle: 'none' }],
    ['extend', { receipt_handle: 'none', visibility_timeout: 1 }],
  ])('%s is never limited', async (operation, fields) => {
    const call = await owner();
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    // More than a burst of reads, which is the longest.
    const replies = await many(450, () => call('POST', `/v1/queue/${operation}`, { queue: 'jobs', ...fields }));
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    expect(replies[0]?.headers.get('ratelimit')).toBeNull();
  });
});

describe('failing to log in', () => {
  test('20 a minute from an address, then 429; a valid key passes, other addresses too', async () => {
    const { secret } = await createTestAccount(service.core);
    const get = (key: string, address: string) =>
      client(service.url, key)('GET', '/v1/account/balance', undefined, { 'x-forwarded-for': address });
    const wrong = mintSecret(service.core.secrets).secret;
    const statuses: number[] = [];
    for (let i = 0; i < 25; i += 1) statuses.push((await get(wrong, '10.7.0.1')).status);
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)]);
    const refused = await get(wrong, '10.7.0.1');
    expectFailure(refused, service.url);
    expect(refused.body.error.code).toBe('RATE_LIMITED');
    expect((await get(secret, '10.7.0.1')).status).toBe(200);
    expect((await get(wrong, '10.7.0.2')).status).toBe(401);
  });

  test('without a trusted proxy X-Forwarded-For makes no other address', async () => {
    // own service: counts who fails to log in
    const plain = await startTestService();
    const get = (address: string) =>
      client(plain.url)('GET', '/v1/account/balance', undefined, { 'x-forwarded-for': address });
    for (let i = 0; i < 20; i += 1) expect((await get(`10.7.1.${i}`)).status).toBe(401);
    expect((await get('10.7.1.99')).status).toBe(429);
    await plain.stop();
  });
});
