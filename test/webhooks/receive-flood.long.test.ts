// Floods by a known address: bodies of 1 MiB from 100 senders at once, and wrong signatures without end. Memory stays bounded, and another account
// is served meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const MIB = 1024 * 1024;
const SENDERS = 100;
const ROUNDS = 5;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { RATE_LIMITS: 'on' } });
});
afterAll(() => service?.stop());

async function receiverOf(call: Client): Promise<string> {
  await call('POST', '/v1/queue/create', { name: 'inbound' });
  const { body } = await call('POST', '/v1/account/webhooks/receive/create', {
    name: 'flooded',
    verify: { scheme: 'github' },
    to: { queue: 'inbound' },
  });
  return new URL(body.data.url).pathname;
}

test('100 senders of 1 MiB at once: memory is bounded, and another account is served', {
  timeout: 120_000,
}, async () => {
  const [mine, other] = await Promise.all([0, 1].map(() => createTestAccount(service.core)));
  const path = await receiverOf(client(service.url, mine?.secret));
  const victim = client(service.url, other?.secret);
  await victim('POST', '/v1/queue/create', { name: 'jobs' });
  const body = Buffer.alloc(MIB, 'x');
  const send = client(service.url);
  const statuses = new Map<number, number>();
  let isOver = false;
  let rssMax = 0;
  const before = process.memoryUsage().rss;
  const sampling = setInterval(() => {
    rssMax = Math.max(rssMax, process.memoryUsage().rss);
  }, 10);
  const sender = async () => {
    for (let n = 0; n < ROUNDS; n += 1) {
      const { status } = await send('POST', path, body, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }).catch(
        // It was refused before all of its body was read.
        () => ({ status: 0 }),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const flooding = Promise.all(Array.from({ length: SENDERS }, sender)).then(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    const answer = await victim('POST', '/v1/queue/publish', { queue: 'jobs', payload: { served } });
    expect(answer.status).toBe(200);
    served += 1;
  }
  await flooding;
  clearInterval(sampling);
  console.log({ statuses: Object.fromEntries(statuses), served, grownMiB: Math.round((rssMax - before) / MIB) });
  expect(served).toBeGreaterThan(5);
  expect(statuses.get(202) ?? 0).toBe(0);
  expect((statuses.get(401) ?? 0) + (statuses.get(429) ?? 0) + (statuses.get(503) ?? 0)).toBeGreaterThan(0);
  // The service and its 100 senders are in this process.
  expect(rssMax - before).toBeLessThan(700 * MIB);
  const { body: consumed } = await client(service.url, mine?.secret)('POST', '/v1/queue/consume', { queue: 'inbound' });
  expect(consumed.data.items).toEqual([]);
});

test('a flood takes the rate of received webhooks, 429, and leaves the account its reads', {
  timeout: 60_000,
}, async () => {
  const account = await createTestAccount(service.core);
  const call = client(service.url, account.secret);
  const path = await receiverOf(call);
  const send = client(service.url);
  const answers = await Promise.all(Array.from({ length: 900 }, () => send('POST', path, '{}')));
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThan(100);
  expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(300);
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
});
