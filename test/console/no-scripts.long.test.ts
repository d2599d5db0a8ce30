// The console in a browser with scripts switched off: each write is done by a form of the page, answered by a page, and in force at once.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsolePage, openConsole } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { client } from '../support/service.ts';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

async function ok(method: string, path: string, body?: unknown) {
  const reply = await bench.call(method, path, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data;
}

/** A page below /console, signed in by the key as people do it. */
async function open(path: string): Promise<ConsolePage> {
  const { browser } = bench.chromium;
  const opened = await openConsole(browser, bench.service.url, bench.account.secret, { javaScriptEnabled: false });
  await opened.page.goto(`${bench.service.url}/console/${path}`);
  return opened;
}

/** The page that the form was answered by tells what it did. */
async function done(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`.done:has-text("${text}")`);
}

/** So many there are at last, each time the page is loaded anew. */
async function expectCount(page: Page, selector: string, wanted: number): Promise<void> {
  const counted = async () => {
    await page.reload();
    return page.locator(selector).count();
  };
  await expect.poll(counted).toBe(wanted);
}

async function close({ page, faults }: ConsolePage): Promise<void> {
  expect(faults).toEqual([]);
  await page.context().close();
}

test('a key is made and seen once, used, and revoked', async () => {
  const opened = await open('keys?new=1');
  const { page } = opened;
  await page.fill('#create-name', 'worker');
  await page.check('input[name=access][value=chosen]');
  await page.fill('#create-scopes', 'queue');
  await page.click('text=Create key');
  const secret = (await page.textContent('.secret')) ?? '';
  const used = client(bench.service.url, secret);
  expect((await used('GET', '/v1/queue/list')).status).toBe(200);
  await page.click('main a:has-text("All keys")');
  await page.click('tbody a:has-text("worker")');
  for (const path of ['keys', new URL(page.url()).pathname.slice('/console/'.length)]) {
    await page.goto(`${bench.service.url}/console/${path}`);
    expect(await page.content()).not.toContain(secret);
  }
  await page.click('text=Revoke key');
  await page.fill('#revoke-typed', new URL(page.url()).pathname.split('/')[3] ?? '');
  await page.click('button:has-text("Revoke")');
  await done(page, 'Key revoked');
  expect((await used('GET', '/v1/queue/list')).status).toBe(401);
  await close(opened);
});

test('a budget is set, and holds for the next call', async () => {
  await ok('POST', '/v1/queue/create', { name: 'jobs' });
  const opened = await open('wallet');
  const { page } = opened;
  await page.selectOption('#budget-period', 'daily');
  await page.fill('#budget-hard_cap_usd', '0.00001');
  await page.click('text=Save budget');
  await done(page, 'Budget saved');
  expect((await bench.call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} })).status).toBe(402);
  await page.fill('#budget-hard_cap_usd', '');
  await page.click('text=Save budget');
  await done(page, 'Budget saved');
  await ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  await close(opened);
});

test('what was dead goes back to its queue', async () => {
  await ok('POST', '/v1/queue/create', { name: 'dead' });
  await ok('POST', '/v1/queue/create', { name: 'broken', dead_letter_queue: 'dead', max_retries: 1 });
  for (let n = 0; n < 2; n += 1) await ok('POST', '/v1/queue/publish', { queue: 'broken', payload: { n } });
  const { items } = await ok('POST', '/v1/queue/consume', { queue: 'broken', max_messages: 2 });
  const receipts = items.map((item: { receipt_handle: string }) => item.receipt_handle);
  await ok('POST', '/v1/queue/nack', { queue: 'broken', receipts, reason: 'It failed.' });
  const stats = () => ok('GET', '/v1/queue/stats/broken');
  await expect.poll(async () => (await stats()).dlq_count).toBe(2);
  const opened = await open('queues/broken/dlq');
  const { page } = opened;
  await page.check('form tbody tr:first-child input[type=checkbox]');
  await page.click('button:has-text("Redrive selected")');
  await done(page, 'Redrive started');
  expect(await stats()).toMatchObject({ available_count: 1, dlq_count: 1 });
  await page.click('section:has-text("Redrive all") button');
  await done(page, 'Redrive started');
  await expect.poll(stats).toMatchObject({ available_count: 2, dlq_count: 0 });
  await expectCount(page, 'form tbody tr', 0);
  await close(opened);
});

test('a delivery that failed is made again', async () => {
  bench.receiver.status = 500;
  const { webhook_id: id } = await ok('POST', '/v1/account/webhooks/register', {
    url: bench.receiver.url('/hook'),
    events: ['queue.dlq'],
  });
  await ok('POST', `/v1/account/webhooks/test/${id}`, {});
  await bench.receiver.arrived('/hook', 1);
  bench.receiver.status = 200;
  const opened = await open(`webhooks/${id}`);
  const { page } = opened;
  await page.click('tbody button:has-text("Redeliver")');
  await done(page, 'Resending the event');
  expect(await bench.receiver.arrived('/hook', 2)).toHaveLength(2);
  await expectCount(page, 'tbody .badge.good', 1);
  await close(opened);
});

test('test money is paid at the sandbox, and is in the wallet', async () => {
  const balance = async () => (await ok('GET', '/v1/account/balance')).balance_usd;
  const before = await balance();
  const opened = await open('wallet');
  const { page } = opened;
  await page.fill('#topup-amount_usd', '25');
  await page.click('button:has-text("Top up")');
  await page.click('text=Continue to the payment page');
  await page.check('#card-pays');
  await page.click('button.main');
  await page.click('text=Continue');
  await page.waitForURL('**/console/wallet?**');
  expect(await balance()).toBe(before + 25);
  expect(await page.textContent('.figures')).toContain(String(before + 25));
  await close(opened);
});

test('whoever signs out is out: the next page asks who is there', async () => {
  const opened = await open('keys?new=1');
  const { page } = opened;
  await page.click('.who');
  await page.click('text=Sign out');
  await page.waitForSelector('#key');
  await page.goto(`${bench.service.url}/console/keys`);
  expect(await page.locator('#key').count()).toBe(1);
  expect(await page.context().cookies()).toEqual([]);
  await close(opened);
});
