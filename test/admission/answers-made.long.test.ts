// Answers that are being made: what is read for them and put together is bounded as bytes, per account and in all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { hangingCalls, letGo, metric, trialModule, untilMetric } from './harness.ts';

const MIB = 1024 * 1024;
interface Delivered {
  readonly message_id: string;
  readonly delivery_count: number;
}

let service: TestService;
let calls: [Client, Client];

beforeAll(async () => {
  service = await startTestService({
    admission: { all: { answerMakingBytesMax: 4 * MIB } },
    extraModules: [trialModule],
  });
  const account = async () => client(service.url, (await createTestAccount(service.core)).secret);
  calls = [await account(), await account()];
  const metadata = { text: 'x'.repeat(16_000) };
  for (const call of calls) {
    await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 2 });
    // Three at a time: threads, which have a low priority, read longer bodies.
    for (let at = 0; at < 100; at += 3) {
      const ids = Array.from({ length: Math.min(3, 100 - at) }, (_, i) => at + i);
      const vectors = ids.map((i) => ({ id: `v${i}`, embedding: [1, i], metadata }));
      expect((await call('POST', '/v1/vector/upsert', { collection: 'docs', vectors })).status).toBe(200);
    }
  }
});
afterAll(() => service.stop());

const fetch = (call: Client, count: number) =>
  call('POST', '/v1/vector/fetch', { collection: 'docs', ids: Array.from({ length: count }, (_, i) => `v${i}`) });
const query = (call: Client, count: number) =>
  call('POST', '/v1/vector/query', { collection: 'docs', embedding: [1, 1], top_k: count });

const told = ({ status, body }: Reply) => `${status} ${body.error?.code ?? 'ok'}`;

/** Meanwhile the account holds all that one may hold alone. */
async function holdingHalf<T>(call: Client, meanwhile: () => Promise<T>): Promise<T> {
  const holds = call('POST', '/v1/trial/hang', { answer_bytes: 2 * MIB });
  await hangingCalls(1);
  try {
    return await meanwhile();
  } finally {
    letGo();
    expect((await holds).status).toBe(200);
    await untilMetric(service, 'qm_answer_making_bytes', 0);
  }
}

test.each([
  ['fetch', fetch],
  ['query', query],
])('%s: who holds much of what is being made is refused, another account gets its own', async (_, ask) => {
  const [call, other] = calls;
  await holdingHalf(call, async () => {
    expect(told(await ask(call, 20))).toBe('429 CONCURRENCY_LIMITED');
    expect(told(await ask(other, 20))).toBe('200 ok');
  });
  expect((await ask(call, 50)).status).toBe(200);
});

test.each([
  ['fetch', fetch],
  ['query', query],
])(
  '%s: of many long answers of an account at once each is made or refused, and all bytes are given back',
  async (_, ask) => {
    const [call, other] = calls;
    const greedy = Array.from({ length: 40 }, () => ask(call, 50));
    const replies = [...(await Promise.all(greedy)), await ask(other, 50)];
    expect(replies.pop()?.status).toBe(200);
    expect(['200 ok', '429 CONCURRENCY_LIMITED']).toEqual(expect.arrayContaining([...new Set(replies.map(told))]));
    await untilMetric(service, 'qm_answer_making_bytes', 0);
    expect((await ask(call, 50)).status).toBe(200);
  },
);

test('what is refused gives back what it held, and is not charged', async () => {
  const [call] = calls;
  const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;
  const before = await balance();
  for (let i = 0; i < 5; i += 1) expect((await query(call, 100)).body.error.code).toBe('CONCURRENCY_LIMITED');
  expect(await balance()).toBe(before);
  expect(await metric(service, 'qm_answer_making_bytes')).toBe(0);
});

test('consumes of large messages are refused while an account holds too much, and lease nothing then', async () => {
  const [call, other] = calls;
  for (const [one, text] of [
    [call, 'x'.repeat(250_000)],
    [other, 'small'],
  ] as const) {
    await one('POST', '/v1/queue/create', { name: 'jobs', visibility_timeout_default: 0, max_retries: 1_000_000 });
    for (let i = 0; i < 10; i += 1)
      expect((await one('POST', '/v1/queue/publish', { queue: 'jobs', payload: { text } })).status).toBe(200);
  }
  const consume = (one: Client, fields = {}) =>
    one('POST', '/v1/queue/consume', { queue: 'jobs', max_messages: 10, ...fields });
  const counts = async (): Promise<[string, number][]> => {
    const { body } = await call('GET', '/v1/queue/peek/jobs?limit=10');
    return body.data.items.map((item: Delivered) => [item.message_id, item.delivery_count]);
  };
  await holdingHalf(call, async () => {
    for (const fields of [{}, { visibility_timeout: 0 }])
      expect(told(await consume(call, fields))).toBe('429 CONCURRENCY_LIMITED');
    expect((await consume(other)).body.data.items).toHaveLength(10);
  });
  expect((await counts()).map(([, count]) => count)).toEqual(Array(10).fill(0));
  // Many at once: those answered have brought what was leased, those refused have leased nothing.
  const greedy = Array.from({ length: 60 }, (_, i) => consume(call, i % 2 === 0 ? {} : { visibility_timeout: 0 }));
  const replies = [...(await Promise.all(greedy)), await consume(other)];
  expect(replies.pop()?.body.data.items).toHaveLength(10);
  expect(['200 ok', '429 CONCURRENCY_LIMITED']).toEqual(expect.arrayContaining([...new Set(replies.map(told))]));
  await untilMetric(service, 'qm_answer_making_bytes', 0);
  const brought = new Map<string, number>();
  for (const { message_id } of replies.flatMap(({ body }): Delivered[] => body.data?.items ?? []))
    brought.set(message_id, (brought.get(message_id) ?? 0) + 1);
  expect(new Map(await counts())).toEqual(brought);
  expect((await consume(call)).body.data.items).toHaveLength(10);
});
