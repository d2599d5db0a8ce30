// Wallet and account in the console: test money is paid and shows by itself, what may be spent is set, each movement stands in the ledger and
// its file; a plan is paid, an address bound, the account's data taken away, and its end asked for by its id and refused to who may not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import {
  expectDone,
  expectSoundPages,
  openConsole,
  personSession,
  press,
  sendForm,
  signedIn,
  typeInto,
} from '../support/console.ts';
import { leaveCard } from '../support/leave-card.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import {
  type Client,
  client,
  createTestAccount,
  mailedCode,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const HOSTILE = '<svg onload=alert(1)>"\u202e'.padEnd(120, 'w');
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
  expect((await call('PATCH', '/v1/account/update', { name: HOSTILE })).status).toBe(200);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  const { body } = await call('POST', '/v1/account/payment_method/attach', {});
  await leaveCard(body.data.checkout_url);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

const get = async (path: string) => (await call('GET', path)).body.data;

test('is sound, filled and empty, narrow and dark', async () => {
  const { browser } = chromium;
  await expectSoundPages(browser, service.url, account.secret, [
    ['wallet', 'Wallet'],
    ['wallet?capability=none.such&trigger=7&amount=30', 'Wallet'],
    ['wallet?cursor=none', 'Wallet'],
    ['account', 'Account'],
    ['account/delete', 'Delete the account'],
  ]);
  await expectSoundPages(browser, service.url, empty.secret, [['wallet', 'Wallet']]);
});

test('by keyboard alone test money is paid, and the balance rises without a reload', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/wallet`);
  const balance = () => page.textContent('.figures dd');
  const before = (await get('/v1/account/balance')).balance_usd;
  const payer = await page.context().newPage();
  await payer.goto(`${service.url}/console/wallet`);
  await typeInto(payer, '#topup-amount_usd', '25');
  await payer.keyboard.press('Enter');
  await press(payer, 'text=Continue to the payment page');
  await press(payer, '#card-pays', 'Space');
  await press(payer, 'button.main');
  await press(payer, 'text=Continue');
  await expect.poll(() => new URL(payer.url()).pathname).toBe('/console/wallet');
  const after = (await get('/v1/account/balance')).balance_usd;
  expect(after).toBe(before + 25);
  await page.bringToFront();
  await expect.poll(balance).toContain(String(after));
  expect(await page.textContent('main')).toContain('$25.00');
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
  expect((await visitor.get('/console/wallet')).text).toContain(`<option value="${card.payment_method_id}">`);
  const chosen = { ...plan, enabled: 'off', payment_method_id: card.payment_method_id };
  expect((await sendForm(visitor, '/console/wallet', 'recharge', chosen)).status).toBe(303);
  expect((await get('/v1/account/autorecharge/get')).payment_method_id).toBe(card.payment_method_id);
  const ending = `/console/wallet/cards/${card.payment_method_id}/remove`;
  expect((await visitor.get('/console/wallet')).text).toContain(`href="${ending}"`);
  expect((await visitor.get(ending)).text).toContain('No other card is saved');
  expect((await sendForm(visitor, ending, 'remove', { typed: 'another' })).status).toBe(400);
  expect((await get('/v1/account/payment_method/list')).items).toHaveLength(1);
  const removed = await sendForm(visitor, ending, 'remove', { typed: card.last4 });
  expect(removed.location).toBe('/console/wallet?done=wallet_remove_card.remove');
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

/** A session of a person who owns the account. */
async function owner(of: TestAccount, email: string): Promise<PageVisitor> {
  const person = { accountId: of.accountId, email, name: HOSTILE, role: 'owner' } as const;
  const visitor = new PageVisitor(service.url);
  visitor.cookies.set('qm_session', await personSession(service.core, person));
  return visitor;
}

test('by keyboard alone a plan is paid with test money, ended and resumed', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/account`);
  await press(page, 'button:has-text("Subscribe to pro")');
  await press(page, 'text=Continue to the payment page');
  await press(page, '#card-pays', 'Space');
  await press(page, 'button.main');
  await press(page, 'text=Continue');
  await expect.poll(() => new URL(page.url()).pathname).toBe('/console/account');
  const subscription = () => get('/v1/account/subscription/get');
  expect(await subscription()).toMatchObject({ status: 'active', label: 'pro', cancel_at_period_end: false });
  await press(page, 'text=Cancel at the end of the month');
  await expectDone(page, 'You can resume it');
  expect(await subscription()).toMatchObject({ status: 'active', cancel_at_period_end: true });
  await press(page, 'button:has-text("Resume")');
  await expectDone(page, 'Subscription resumed');
  expect(await subscription()).toMatchObject({ cancel_at_period_end: false });
  expect(faults).toEqual([]);
});

test('an address is bound by the code of its mail, without scripts', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const email = 'bound@example.org';
  const refused = await sendForm(visitor, '/console/account', 'bind', { email: 'no address' });
  expect([refused.status, refused.text.includes('id="bind-email-fault"')]).toEqual([400, true]);
  expect((await sendForm(visitor, '/console/account', 'bind', { email })).status).toBe(303);
  expect((await sendForm(visitor, '/console/account', 'verify', { code: '000000' })).text).toContain(
    'VERIFICATION_FAILED',
  );
  const bound = await sendForm(visitor, '/console/account', 'verify', { code: await mailedCode(email) });
  expect(bound.location).toBe('/console/account?done=account.verify');
  expect(await get('/v1/account/get')).toMatchObject({ email_bound: true });
});

test('name and mails are set; what cannot be left out is told at its field; who would serve a call is told', async () => {
  const visitor = await signedIn(service.url, account.secret);
  expect((await sendForm(visitor, '/console/account', 'rename', { name: 'shop' })).status).toBe(303);
  expect(await get('/v1/account/get')).toMatchObject({ name: 'shop', notifications: { email: false } });
  const [{ capability, chain }] = (await get('/v1/account/routing/get')).capabilities;
  const vendor = chain[0].vendor as string;
  const refused = await sendForm(visitor, '/console/account', 'routing', { capability, exclude: vendor });
  expect([refused.status, refused.text.includes(`id="exclude-${capability}-fault"`)]).toEqual([409, true]);
  const set = await sendForm(visitor, '/console/account', 'routing', { capability, exclude: '' });
  expect(set.location).toBe('/console/account?done=account.routing');
  const tried = await sendForm(visitor, '/console/account', 'routing_test', { capability });
  expect(tried.text).toContain(`Routing of ${capability}`);
  expect(tried.text).toContain(`1. <bdi>${vendor}</bdi>`);
});

test('the export holds what the API exports, a record a line', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const file = await visitor.get('/console/account?as=jsonl');
  expect(file.headers.get('content-disposition')).toContain('account.jsonl');
  const records = file.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const kinds = new Set(records.map(({ kind }) => kind));
  expect([...kinds]).toEqual(expect.arrayContaining(['account', 'balance', 'key', 'ledger_entry']));
  expect(records.find(({ kind }) => kind === 'account').record.account_id).toBe(account.accountId);
});

test('a key that only reads cannot end the account; a person who owns it does, by its id', async () => {
  const doomed = await createTestAccount(service.core, 3);
  const page = '/console/account/delete';
  const made = await client(service.url, doomed.secret)('POST', '/v1/account/keys/create', {
    scopes: ['account:read'],
  });
  const byKey = await signedIn(service.url, made.body.data.key_secret);
  const refused = await sendForm(byKey, page, 'delete', { typed: doomed.accountId, forfeit_balance: 'on' });
  expect([refused.status, refused.text.includes('INSUFFICIENT_SCOPE')]).toEqual([403, true]);
  const visitor = await owner(doomed, 'doomed@example.org');
  expect((await visitor.get(page)).text).toContain('<span class="number-value">$3.00</span> of credit');
  expect((await sendForm(visitor, page, 'delete', { typed: 'acct' })).status).toBe(400);
  expect((await sendForm(visitor, page, 'delete', { typed: doomed.accountId })).status).toBe(409);
  const deleted = await sendForm(visitor, page, 'delete', { typed: doomed.accountId, forfeit_balance: 'on' });
  expect([deleted.status, deleted.text.includes('Account deleted')]).toEqual([200, true]);
  const after = await client(service.url, doomed.secret)('GET', '/v1/account/get');
  expect([after.status, after.body.error.code]).toEqual([403, 'ACCOUNT_SUSPENDED']);
});

// The last one: it is a month later then.
test('what auto-recharge would have charged is played over what last month cost', async () => {
  await service.advance(31 * 86_400);
  const visitor = await signedIn(service.url, account.secret);
  const { text } = await visitor.get('/console/wallet?trigger=5&amount=20');
  expect(text).toContain('You spent <span class="number-value">$0.00002</span>.');
  expect(text).toContain('<strong>0 charges, ');
});
