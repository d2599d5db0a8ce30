// The wallet in the console: test money is paid and shows by itself, what may be spent is set, each movement stands in the ledger and its file.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, looks, openConsole, sendForm, signedIn } from '../support/console.ts';
import { leaveCard } from '../support/leave-card.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let empty: TestAccount;
let call: Client;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 12.5);
  empty = await createTestAccount(service.core, 0);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  const { body } = await call('POST', '/v1/account/payment_method/attach', {});
  await leaveCard(body.data.checkout_url);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

const get = async (path: string) => (await call('GET', path)).body.data;

test.each(looks)('is sound, filled and empty: $width px, $colorScheme', async (look) => {
  const { browser } = chromium;
  await expectSoundPages(browser, service.url, account.secret, look, [
    ['wallet', 'Wallet'],
    ['wallet?capability=none.such&trigger=7&amount=30', 'Wallet'],
    ['wallet?cursor=none', 'Wallet'],
  ]);
  await expectSoundPages(browser, service.url, empty.secret, look, [['wallet', 'Wallet']]);
});

test('test money is paid, and the balance rises without a reload', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/wallet`);
  const balance = () => page.textContent('.figures dd');
  const before = (await get('/v1/account/balance')).balance_usd;
  const payer = await page.context().newPage();
  await payer.goto(`${service.url}/console/wallet`);
  await payer.fill('#topup-amount_usd', '25');
  await payer.click('form:has(#topup-amount_usd) button');
  await payer.click('text=Continue to the payment page');
  await payer.check('#card-pays');
  await payer.click('button.main');
  await payer.click('text=Continue');
  await expect.poll(() => new URL(payer.url()).pathname).toBe('/console/wallet');
  const after = (await get('/v1/account/balance')).balance_usd;
  expect(after).toBe(before + 25);
  await page.bringToFront();
  await expect.poll(balance, { timeout: 10_000 }).toContain(String(after));
  expect(await page.textContent('main')).toContain('25.00 USD');
  expect(faults).toEqual([]);
});

test('a top-up that is refused says why at its field and keeps what was typed', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/wallet', 'topup', { amount_usd: '1.005' });
  expect([
    refused.status,
    refused.text.includes('value="1.005"'),
    refused.text.includes('id="topup-amount_usd-fault"'),
  ]).toEqual([400, true, true]);
});

test('budget, usual card and auto-recharge are set without scripts, as the API then tells', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const budget = await sendForm(visitor, '/console/wallet', 'budget', {
    period: 'daily',
    hard_cap_usd: '3.5',
    alert_threshold_usd: '',
  });
  expect([budget.status, budget.location]).toEqual([303, '/console/wallet?done=wallet.budget']);
  expect(await get('/v1/account/budget/get')).toMatchObject({ period: 'daily', hard_cap_usd: 3.5 });
  const plan = {
    trigger_balance: '2',
    recharge_amount: '25',
    max_per_day: '2',
    max_per_month: '9',
    payment_method_id: '',
  };
  expect((await sendForm(visitor, '/console/wallet', 'recharge', { ...plan, enabled: 'on' })).status).toBe(303);
  expect(await get('/v1/account/autorecharge/get')).toMatchObject({
    enabled: true,
    trigger_balance: 2,
    recharge_amount: 25,
    max_per_day: 2,
  });
  expect((await sendForm(visitor, '/console/wallet', 'recharge', { ...plan, enabled: 'off' })).status).toBe(303);
  const [card] = (await get('/v1/account/payment_method/list')).items;
  const removed = await sendForm(visitor, '/console/wallet', 'remove', { payment_method_id: card.payment_method_id });
  expect(removed.location).toBe('/console/wallet?done=wallet.remove');
  expect((await get('/v1/account/payment_method/list')).items).toEqual([]);
  const attached = await sendForm(visitor, '/console/wallet', 'attach');
  expect(attached.text).toMatch(/<a class="main" href="[^"]+\/pay\/[^"]+"/);
});

test('the ledger as CSV is the ledger of the API', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const [head, ...rows] = (await visitor.get('/console/wallet?as=csv')).text.trim().split('\r\n');
  const { items } = await get('/v1/account/ledger/list?limit=100');
  expect(head?.split(',')).toContain('balance_after_usd');
  expect(rows.map((row) => Number(row.split(',')[7]))).toEqual(
    items.map((entry: { balance_after_usd: number }) => entry.balance_after_usd),
  );
  const published = await visitor.get('/console/wallet?as=csv&capability=queue.publish');
  expect(published.text.trim().split('\r\n')).toHaveLength(2);
});

test('a key that may only read sees the wallet and no form that changes it', async () => {
  const { body } = await call('POST', '/v1/account/keys/create', { scopes: ['account:read'] });
  const visitor = await signedIn(service.url, body.data.key_secret);
  const page = await visitor.get('/console/wallet');
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/name="act" value="(topup|budget|recharge|attach|remove)"/);
});
