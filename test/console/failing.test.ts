// What fails now, on the first page: webhooks that do not get through though they are on, not those that their owner switched off; how much
// was looked at where there is more; and the share of calls that failed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { signedIn } from '../support/console.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService({ env: LOCAL_TARGETS }), Receiver.start()]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), receiver?.stop()]);
});

async function newAccount(): Promise<{ account: TestAccount; call: Client }> {
  const account = await createTestAccount(service.core, 5);
  return { account, call: client(service.url, account.secret) };
}

/** The panel as text. */
async function failing({ secret }: TestAccount, query = ''): Promise<string> {
  const { status, text } = await (await signedIn(service.url, secret)).get(`/console${query}`);
  expect(status).toBe(200);
  const [, panel = ''] = /<h2>Failing now<\/h2>([\s\S]*?)<\/section>/.exec(text) ?? [];
  return panel
    .replaceAll(/<\/?(p|ul|li)[^>]*>/g, ' ')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

async function register(call: Client, path: string): Promise<string> {
  const made = await call('POST', '/v1/account/webhooks/register', { url: receiver.url(path), events: ['queue.dlq'] });
  expect(made.status).toBe(200);
  return made.body.data.webhook_id;
}

/** Sends a test to the webhook, which its receiver answers with `status`. */
async function attempted(call: Client, id: string, status: number): Promise<void> {
  receiver.status = status;
  expect((await call('POST', `/v1/account/webhooks/test/${id}`, {})).status).toBe(200);
  await eventually(async () => {
    const { items } = (await call('GET', `/v1/account/webhooks/deliveries/${id}`)).body.data;
    return items.at(0)?.http_status === status;
  });
}

/** An event of the account that its webhooks are told. */
async function deadLetter(call: Client): Promise<void> {
  await call('POST', '/v1/queue/create', { name: 'dead' });
  await call('POST', '/v1/queue/create', { name: 'jobs', dead_letter_queue: 'dead', max_retries: 1 });
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  const [{ receipt_handle }] = (await call('POST', '/v1/queue/consume', { queue: 'jobs' })).body.data.items;
  await call('POST', '/v1/queue/nack', { queue: 'jobs', receipt_handle });
}

test('nothing is told to fail where nothing does', async () => {
  const { account, call } = await newAccount();
  const id = await register(call, '/well');
  await attempted(call, id, 500);
  await attempted(call, id, 200);
  expect(await failing(account)).toMatch(/^Nothing\. In the period below 0 of \d+ calls failed, 0\.0 %\.$/);
});

test('a webhook that is on and whose last attempt failed is failing; one that its owner switched off is not', async () => {
  const { account, call } = await newAccount();
  const [broken, unwanted] = [await register(call, '/broken'), await register(call, '/unwanted')];
  await attempted(call, broken, 503);
  await attempted(call, unwanted, 503);
  const off = await call('PATCH', `/v1/account/webhooks/update/${unwanted}`, { status: 'disabled' });
  expect(off.status).toBe(200);
  const told = await failing(account);
  expect(told).toMatch(/\/broken delivery fails: HTTP 503 \(\d+ ms\), /);
  expect(told).not.toContain('/unwanted');
});

test('a webhook that went off by itself is failing, in words', async () => {
  const { account, call } = await newAccount();
  await register(call, '/gone');
  receiver.status = 410;
  await deadLetter(call);
  await receiver.arrived('/gone');
  await expect.poll(() => failing(account)).toContain('/gone disabled: the receiver answered 410');
  expect(await failing(account)).toContain('Dead letters jobs 1 message');
});

test('where there is more than was looked at, it says so, and how many lines were left out', async () => {
  const { account, call } = await newAccount();
  for (let n = 10; n < 32; n += 1)
    expect((await call('POST', '/v1/queue/create', { name: `jobs-${n}` })).status).toBe(200);
  expect(await failing(account)).toContain('Nothing. Of the first 20 queues.');
  for (let n = 0; n < 11; n += 1) await register(call, `/hook-${n}`);
  expect(await failing(account)).toContain('Of the deliveries of the newest 10 webhooks, the first 20 queues.');
  for (let n = 0; n < 7; n += 1) await call('POST', '/v1/errors/capture', { title: `Error ${n}` });
  const told = await failing(account);
  expect([told.match(/Error Error \d/g)?.length, told.includes('and more errors')]).toEqual([5, true]);
});

test('the share of calls that failed is told of the period, and leads to them in the request log', async () => {
  const { account, call } = await newAccount();
  for (let n = 0; n < 3; n += 1) expect((await call('GET', '/v1/queue/get/none')).status).toBe(404);
  await expect.poll(() => failing(account, '?period=24h')).toMatch(/3 of \d+ calls failed, \d+\.\d %/);
  const { text } = await (await signedIn(service.url, account.secret)).get('/console?period=24h');
  expect(text).toContain('<a href="/console/requests?outcome=failed">3 of ');
  const log = await (await signedIn(service.url, account.secret)).get('/console/requests?outcome=failed');
  expect(log.text.match(/404 QUEUE_NOT_FOUND/g)?.length ?? log.text).toBe(3);
  const usage = await (await signedIn(service.url, account.secret)).get('/console/usage?period=24h&figure=failed');
  const [, table = ''] = /<caption[^>]*>Usage<\/caption>([\s\S]*?)<\/table>/.exec(usage.text) ?? [];
  expect([table.includes('queue.get'), table.includes('account.balance')]).toEqual([true, false]);
});

test('an empty wallet lasts for nothing', async () => {
  const { secret } = await createTestAccount(service.core, 0);
  const { text } = await (await signedIn(service.url, secret)).get('/console');
  expect(text.replaceAll(/<[^>]+>/g, ' ')).toMatch(/Runway\s+empty/);
});

test('a webhook that fails is shown failing, and what waits for its next attempt can be sent now', async () => {
  const { account, call } = await newAccount();
  const id = await register(call, '/unwell');
  receiver.status = 500;
  await deadLetter(call);
  const deliveries = async () => (await call('GET', `/v1/account/webhooks/deliveries/${id}`)).body.data.items;
  await eventually(async () => (await deliveries()).at(0)?.attempts.length === 1);
  const visitor = await signedIn(service.url, account.secret);
  for (const path of ['/console/webhooks', `/console/webhooks/${id}`]) {
    const { text } = await visitor.get(path);
    expect(text).toMatch(/class="badge critical">failing: 1 attempt since the last success</);
    expect(text).not.toMatch(/class="badge good">enabled</);
  }
  expect((await visitor.get(`/console/webhooks/${id}`)).text).toContain('Resend now');
  receiver.status = 200;
  const [{ delivery_id: deliveryId }] = await deliveries();
  const sent = await call('POST', `/v1/account/webhooks/redeliver/${deliveryId}`, {});
  expect(sent.body.data).toMatchObject({ delivery_id: deliveryId, status: 'pending' });
  await eventually(async () => (await deliveries()).at(0)?.status === 'succeeded');
  expect(await deliveries()).toMatchObject([{ delivery_id: deliveryId, attempt: 2 }]);
  expect((await visitor.get('/console/webhooks')).text).toMatch(/class="badge good">enabled</);
});
