// More connections and calls than there is room for: who is let in, who is refused with what, and what stays reachable.
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/envelope.ts';
import { openRaw, type RawConnection } from '../support/raw.ts';
import { client, createTestAccount, type Reply, startTestService, type TestService } from '../support/service.ts';
import { bearer, hangingCalls, letGo, requestText, trialModule } from './harness.ts';

const opened: RawConnection[] = [];
afterEach(() => {
  for (const raw of opened.splice(0)) raw.destroy();
});

describe('connections', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({
      admission: { all: { connectionsMax: 16, spareConnections: 2, spareConnectionMs: 300 } },
    });
  });
  afterAll(() => service.stop());

  const open = async () => {
    const raw = await openRaw(service.url);
    opened.push(raw);
    return raw;
  };

  test('an address has half of them; one more is told so, unless it asks how the service is; then there is room again', async () => {
    const held = [];
    for (let i = 0; i < 8; i += 1) held.push(await open());
    await sleep(20);
    for (const raw of held) raw.send(requestText('GET', '/v1/nothing'));
    for (const raw of held) expect(await raw.receive()).toMatch(/^HTTP\/1\.1 404 /);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const spare = await open();
      spare.send(requestText('GET', path, ['Connection: close']));
      expect(await spare.receive()).toMatch(/^HTTP\/1\.1 200 /);
      await expect.poll(() => spare.closed, { interval: 5 }).toBe(true);
    }
    const refused = await open();
    refused.send(requestText('GET', '/v1/account/balance'));
    expect(await refused.receive()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n(?=[\s\S]*retry-after: 1)/i);
    for (const raw of held) raw.destroy();
    await sleep(20);
    const admitted = await open();
    admitted.send(requestText('GET', '/v1/nothing'));
    expect(await admitted.receive()).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('idle ones beyond the bound are let go soon, and those beyond these at once', async () => {
    for (let i = 0; i < 8; i += 1) await open();
    await sleep(20);
    const spare = [await open(), await open()];
    await sleep(20);
    const beyond = await open();
    expect(await beyond.receive()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n(?=[\s\S]*Retry-After: 1)/);
    for (const raw of [...spare, beyond]) await expect.poll(() => raw.closed, { interval: 20 }).toBe(true);
  });
});

test('connections of a trusted proxy are those of many: no bound of one address holds for them', async () => {
  const service = await startTestService({
    env: { TRUST_PROXY: 'loopback' },
    admission: { all: { connectionsMax: 16 } },
  });
  for (let i = 0; i < 12; i += 1) {
    const raw = await openRaw(service.url);
    opened.push(raw);
    raw.send(requestText('GET', '/v1/nothing'));
    expect(await raw.receive()).toMatch(/^HTTP\/1\.1 404 /);
  }
  for (const raw of opened.splice(0)) raw.destroy();
  await service.stop();
});

describe('places', () => {
  let service: TestService;
  const lines: { kind?: string; count?: number; err?: unknown }[] = [];

  beforeAll(async () => {
    service = await startTestService({
      extraModules: [trialModule],
      admission: { all: { places: 8, turnWaitMs: 30, turnBurstMs: 0, turnLookMs: 5 } },
      log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
  });
  afterEach(letGo);
  afterAll(() => service.stop());

  const caller = async () => client(service.url, (await createTestAccount(service.core)).secret);
  const hang = (call: Awaited<ReturnType<typeof caller>>) => call('POST', '/v1/trial/hang', {});

  test('one account that hangs in all its places is told so; nobody else notices', async () => {
    const [greedy, other] = [await caller(), await caller()];
    const hung = Array.from({ length: 4 }, () => hang(greedy));
    await hangingCalls(4);
    const refused = await hang(greedy);
    expectFailure(refused, service.url);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'CONCURRENCY_LIMITED']);
    for (let i = 0; i < 20; i += 1) expect((await other('GET', '/v1/account/balance')).status).toBe(200);
    letGo();
    expect((await Promise.all(hung)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await greedy('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('when all places hang, a call waits a moment, then gets 503 OVERLOADED; health is told, and the log has one line', async () => {
    lines.length = 0;
    const hung: Promise<Reply>[] = [];
    // Each finds as many places as half of what is left.
    for (const share of [4, 2, 1, 1]) {
      const call = await caller();
      hung.push(...Array.from({ length: share }, () => hang(call)));
      await hangingCalls(hung.length);
    }
    const last = await caller();
    const refused = await Promise.all(Array.from({ length: 50 }, () => last('GET', '/v1/account/balance')));
    for (const reply of refused) {
      expect([reply.status, reply.body.error.code]).toEqual([503, 'OVERLOADED']);
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    expectFailure(refused[0] as (typeof refused)[0], service.url);
    for (const path of ['/healthz', '/readyz', '/metrics', '/llms.txt'])
      expect((await client(service.url)('GET', path)).status).toBe(200);
    letGo();
    expect((await Promise.all(hung)).every(({ status }) => status === 200)).toBe(true);
    expect((await last('GET', '/v1/account/balance')).status).toBe(200);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatchObject({ kind: 'OVERLOADED', count: 50 });
    expect(lines[0]?.err).toBeUndefined();
  });

  test('long polls that wait hold no place', async () => {
    const call = await caller();
    await call('POST', '/v1/queue/create', { name: 'empty' });
    const polls = [];
    for (let i = 0; i < 12; i += 1) {
      polls.push(call('POST', '/v1/queue/consume', { queue: 'empty', wait_seconds: 1 }));
      await sleep(20);
    }
    expect((await call('GET', '/v1/account/balance')).status).toBe(200);
    expect((await Promise.all(polls)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

test('calls in a queue that moves are all answered', async () => {
  const service = await startTestService({
    admission: { all: { places: 8 } },
  });
  const call = client(service.url, (await createTestAccount(service.core)).secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} })),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(200).fill(200));
  await service.stop();
});

test('who is refused again and again, and asks again at once, is made to wait; a valid call passes', async () => {
  const service = await startTestService({
    env: { RATE_LIMITS: 'on' },
    admission: { account: { refusalsPerSecond: 20 }, all: { refusalHeldMaxMs: 400 } },
  });
  const { secret } = await createTestAccount(service.core);
  const other = client(service.url, (await createTestAccount(service.core)).secret);
  const request = requestText('POST', '/v1/queue/purge/nothing', [bearer(secret)]);
  let refused = 0;
  let stop = false;
  const loops = Array.from({ length: 16 }, async () => {
    const raw = await openRaw(service.url);
    opened.push(raw);
    for (let answers = 1; !stop; answers += 1) {
      raw.send(request);
      const all = await raw.receive((text) => text.split('HTTP/1.1 ').length > answers && text.endsWith('}}'));
      if (all.split('HTTP/1.1 ').at(-1)?.startsWith('429') === true) refused += 1;
    }
  });
  await sleep(1_500);
  for (let i = 0; i < 10; i += 1) expect((await other('GET', '/v1/account/balance')).status).toBe(200);
  stop = true;
  await Promise.all(loops);
  // 20 at once, then 16 connections, each held for 0.4 s. Without holding it is thousands.
  expect(refused).toBeGreaterThan(20);
  expect(refused).toBeLessThan(250);
  await service.stop();
});
