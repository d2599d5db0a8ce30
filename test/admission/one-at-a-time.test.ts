// One call at a time on a connection: what is sent ahead waits, and takes nothing meanwhile.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openRaw, type RawConnection } from '../support/raw.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { bearer, hangingCalls, letGo, metric, requestText, trialModule, untilMetric } from './harness.ts';

let service: TestService;
let account: TestAccount;
const opened: RawConnection[] = [];

beforeAll(async () => {
  service = await startTestService({ extraModules: [trialModule] });
  account = await createTestAccount(service.core);
});
afterEach(() => {
  letGo();
  for (const raw of opened.splice(0)) raw.destroy();
});
afterAll(() => service.stop());

async function open(): Promise<RawConnection> {
  const raw = await openRaw(service.url);
  opened.push(raw);
  return raw;
}

/** What was sent before it has been read once it is answered. */
async function callElsewhere(): Promise<void> {
  expect((await client(service.url, account.secret)('GET', '/v1/account/balance')).status).toBe(200);
}

const hang = () => requestText('POST', '/v1/trial/hang', [bearer(account.secret)]);
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

test('calls sent ahead begin only when the one before is answered, and are answered in order', async () => {
  const raw = await open();
  raw.send(hang() + requestText('GET', '/v1/queue/get/nothing', [bearer(account.secret)]) + hang());
  await hangingCalls(1);
  await callElsewhere();
  expect(await metric(service, 'qm_calls_running')).toBe(1);
  letGo();
  await hangingCalls(1);
  letGo();
  const text = await raw.receive((all) => statuses(all).length === 3);
  expect(statuses(text)).toEqual([200, 404, 200]);
  // The connection goes on.
  raw.send(requestText('GET', '/v1/nothing'));
  expect(statuses(await raw.receive((all) => statuses(all).length === 4)).at(-1)).toBe(404);
});

test('sixteen wait, with bodies too; nobody sends more ahead: the connection ends, and the call that ran is free', async () => {
  const [polite, greedy] = [await open(), await open()];
  const create = (i: number) =>
    requestText('POST', '/v1/queue/create', [bearer(account.secret)], `{"name":"queue-${i}"}`);
  polite.send(hang() + Array.from({ length: 16 }, (_, i) => create(i)).join(''));
  await hangingCalls(1);
  letGo();
  expect(statuses(await polite.receive((all) => statuses(all).length === 17))).toEqual(Array(17).fill(200));

  greedy.send(hang() + requestText('GET', '/v1/account/tier').repeat(17));
  await expect.poll(() => greedy.closed, { interval: 5 }).toBe(true);
  letGo();
  await untilMetric(service, 'qm_calls_running', 0);
});

test('thousands of requests sent ahead without a key, behind answers nobody reads, disturb no one', async () => {
  const call = client(service.url, account.secret);
  const flood =
    requestText('GET', '/v1/openapi.json').repeat(12) + requestText('GET', '/v1/account/tier').repeat(1_150);
  for (let i = 0; i < 20; i += 1) (await open()).send(flood);
  for (let i = 0; i < 50; i += 1) expect((await call('GET', '/v1/account/balance')).status).toBe(200);
  expect(await metric(service, 'qm_calls_running')).toBeLessThanOrEqual(20);
  for (const raw of opened) await expect.poll(() => raw.closed, { interval: 5 }).toBe(true);
});

test('one that waits and asks whether to send its body hears it at its turn', async () => {
  const raw = await open();
  const head = requestText('POST', '/v1/queue/create', [bearer(account.secret), 'Expect: 100-continue'], '').replace(
    'Content-Length: 0',
    'Content-Length: 16',
  );
  raw.send(hang() + head);
  await hangingCalls(1);
  await callElsewhere();
  letGo();
  const text = await raw.receive((all) => all.includes('100 Continue'));
  expect(text.indexOf('200 OK')).toBeLessThan(text.indexOf('100 Continue'));
  raw.send('{"name":"asked"}\n');
  expect(statuses(await raw.receive((all) => statuses(all).length === 3))).toEqual([200, 100, 200]);
});

test.each([
  ['an expectation nobody knows', requestText('GET', '/v1/account/tier', ['Expect: miracles']), 417],
  ['no Host', 'GET /v1/account/tier HTTP/1.1\r\n\r\n', 400],
])('%s is refused at its turn too', async (_what, request, status) => {
  const raw = await open();
  raw.send(hang() + request);
  await hangingCalls(1);
  await callElsewhere();
  expect(await raw.receive(() => true)).toBe('');
  letGo();
  expect(statuses(await raw.receive((all) => statuses(all).length === 2))).toEqual([200, status]);
  await expect.poll(() => raw.closed, { interval: 5 }).toBe(true);
});

test('what HTTP/1.0 expects is nothing', async () => {
  const raw = await open();
  raw.send(requestText('GET', '/v1/account/tier', ['Expect: 100-continue']).replace('HTTP/1.1', 'HTTP/1.0'));
  expect(statuses(await raw.receive((all) => all.includes('"ok":false')))).toEqual([401]);
});

test('what is no HTTP behind a running call never passes for its answer', async () => {
  const raw = await open();
  raw.send(`${hang()}GARBAGE\r\n\r\n`);
  await expect.poll(() => raw.closed, { interval: 5 }).toBe(true);
  expect(await raw.receive(() => true)).toBe('');
});
