// The operator's pages: accounts are found and changed, top-ups decided on and paid back, and the service's health is told; nobody else
// finds the way there.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { keepDoctorResult } from '../../src/upkeep/doctor-result.ts';
import { eventually } from '../cron/harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDone, expectSoundPages, openConsole, press, sendForm, signedIn, typeInto } from '../support/console.ts';
import { leaveCard } from '../support/leave-card.ts';
import {
  type Client,
  client,
  createTestAccount,
  createTestOperator,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const HOSTILE = '<script>alert(1)</script>"\u202e'.padEnd(120, 'w');
let service: TestService;
let chromium: TestBrowser;
let operator: TestAccount;
let account: TestAccount;
let call: Client;
let act: Client;
let review: string;
let paid: string;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  operator = await createTestOperator(service.core);
  account = await createTestAccount(service.core, 10);
  [call, act] = [client(service.url, account.secret), client(service.url, operator.secret)];
  expect((await call('PATCH', '/v1/account/update', { name: HOSTILE })).status).toBe(200);
  [paid, review] = [await toppedUp('pays', 'succeeded'), await toppedUp('reviewed', 'review')];
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

async function toppedUp(card: string, status: string): Promise<string> {
  const { topup_id, checkout_url } = (await call('POST', '/v1/account/topup', { amount_usd: 20 })).body.data;
  await leaveCard(checkout_url, card);
  await eventually(async () => {
    const { data } = (await call('GET', `/v1/account/topup/get/${topup_id}`)).body;
    return data.status === status ? data : null;
  });
  return topup_id;
}

const detail = async () => (await act('GET', `/v1/operator/accounts/get/${account.accountId}`)).body.data;
const page = () => `/console/operator/accounts/${account.accountId}`;

test('is sound, narrow and dark', async () => {
  await expectSoundPages(chromium.browser, service.url, operator.secret, [
    ['operator', 'Operator'],
    ['operator?search=none', 'Operator'],
    [`operator/accounts/${account.accountId}`, `${HOSTILE.slice(0, 100)}…`],
    [`operator/accounts/${account.accountId}/refund/${paid}`, 'Refund a top-up'],
    ['operator/accounts/acct_email_1111111111111111111111', 'There is no such page'],
    ['operator/topups', 'Top-ups'],
    ['operator/topups?cursor=none', 'Top-ups'],
    ['operator/health', 'Health'],
  ]);
});

/** A browser that is signed in by the link of the command line. */
async function byLink() {
  const { db } = service.core;
  const token = await db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  const opened = await openConsole(chromium.browser, service.url, null);
  await opened.page.goto(`${service.url}/auth/operator/${token}`);
  await press(opened.page, 'button.main');
  return opened;
}

test('by the link of the command line and by keyboard alone an account is found, credited and suspended, and its next call is refused', async () => {
  const { page: browser, faults } = await byLink();
  await expect.poll(() => browser.textContent('h1')).toBe('Operator');
  expect(await browser.textContent('.who')).toContain('Operator');
  await typeInto(browser, 'main input[type=search]', account.accountId);
  await browser.keyboard.press('Enter');
  await press(browser, `tbody a[href$="/${account.accountId}"]`);
  const before = (await detail()).balance.balance_usd;
  await typeInto(browser, '#grant-amount_usd', '2.5');
  await press(browser, 'button:has-text("Grant")');
  await expectDone(browser, 'Credit granted');
  expect((await detail()).balance.balance_usd).toBe(before + 2.5);
  await press(browser, 'button:has-text("Suspend")');
  await expectDone(browser, 'suspended');
  expect((await call('GET', '/v1/queue/list')).body.error.code).toBe('ACCOUNT_SUSPENDED');
  await press(browser, 'button:has-text("End the suspension")');
  await expectDone(browser, 'Suspension ended');
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
  expect(faults).toEqual([]);
});

test('name and address are changed, and an address that stays empty stays', async () => {
  const visitor = await signedIn(service.url, operator.secret);
  const email = 'owner@example.org';
  expect((await sendForm(visitor, page(), 'contact', { name: HOSTILE, email })).status).toBe(303);
  expect(await detail()).toMatchObject({ name: HOSTILE, email, email_bound: true });
  expect((await sendForm(visitor, page(), 'contact', { name: 'north', email: '' })).status).toBe(303);
  expect(await detail()).toMatchObject({ name: 'north', email });
  const refused = await sendForm(visitor, page(), 'contact', { name: 'north', email: 'no address' });
  expect([refused.status, refused.text.includes('id="contact-email-fault"')]).toEqual([400, true]);
});

test('tier and verification are set, a top-up is approved, and one is paid back by its id, without scripts', async () => {
  const visitor = await signedIn(service.url, operator.secret);
  expect((await sendForm(visitor, page(), 'tier', { tier: 'pro' })).status).toBe(303);
  expect((await sendForm(visitor, page(), 'kyc', { kyc_status: 'verified' })).status).toBe(303);
  expect(await detail()).toMatchObject({ tier: 'pro', kyc_status: 'verified' });
  const refused = await sendForm(visitor, page(), 'grant', { amount_usd: '-1', kind: 'promo' });
  expect([refused.status, refused.text.includes('id="grant-amount_usd-fault"')]).toEqual([400, true]);
  const approved = await sendForm(visitor, '/console/operator/topups', 'approve', { topup_id: review });
  expect(approved.location).toBe('/console/operator/topups?done=operator_topups.approve');
  expect((await call('GET', `/v1/account/topup/get/${review}`)).body.data.status).toBe('succeeded');
  const refund = `${page()}/refund/${paid}`;
  expect((await sendForm(visitor, refund, 'refund', { amount_usd: '5', typed: 'top' })).status).toBe(400);
  const back = await sendForm(visitor, refund, 'refund', { amount_usd: '5', typed: paid });
  expect([back.status, back.location]).toEqual([303, `${page()}?done=operator_refund.refund`]);
  const topup = async () => (await call('GET', `/v1/account/topup/get/${paid}`)).body.data.refunded_usd;
  await expect.poll(topup).toBe(5);
  expect((await visitor.get(`${page()}/refund/${paid.slice(0, -4)}1111`)).status).toBe(404);
});

test('a top-up is rejected by its id, on a page that says what was charged; nothing of it is credited', async () => {
  const rejected = await toppedUp('reviewed', 'review');
  const before = (await detail()).balance.balance_usd;
  const ending = `${page()}/reject/${rejected}`;
  await expectSoundPages(chromium.browser, service.url, operator.secret, [
    [ending.slice('/console/'.length), 'Reject a top-up'],
  ]);
  const visitor = await signedIn(service.url, operator.secret);
  expect((await visitor.get('/console/operator/topups')).text).toContain(`href="${ending}"`);
  expect((await visitor.get(ending)).text).toMatch(/was charged 20 USD/);
  const state = async () => (await call('GET', `/v1/account/topup/get/${rejected}`)).body.data.status;
  expect((await sendForm(visitor, ending, 'reject', { typed: 'it' })).status).toBe(400);
  expect(await state()).toBe('review');
  const done = await sendForm(visitor, ending, 'reject', { typed: rejected });
  expect(done.location).toBe('/console/operator/topups?done=operator_reject.reject');
  expect([await state(), (await detail()).balance.balance_usd]).toEqual(['failed', before]);
});

test('health tells the processes, what waits, and what the doctor found last', async () => {
  const health = async () => (await act('GET', '/v1/operator/health')).body.data;
  expect(await health()).toMatchObject({ processes: [{ role: 'all' }], lanes: { calls_waiting: 0 }, doctor: null });
  const visitor = await signedIn(service.url, operator.secret);
  expect((await visitor.get('/console/operator/health')).text).toContain('Not run yet');
  await keepDoctorResult(service.core.db, { accounts: 2, findings: 3 });
  expect((await health()).doctor).toMatchObject({ accounts: 2, findings: 3 });
  expect((await visitor.get('/console/operator/health')).text).toContain('3 findings');
});

test('whoever is not the operator finds neither the pages nor the way there', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const paths = [
    '/console/operator',
    page(),
    `${page()}/refund/${paid}`,
    '/console/operator/topups',
    '/console/operator/health',
  ];
  for (const path of paths) {
    const answer = await visitor.get(path);
    expect([answer.status, answer.text.includes('href="/console/operator"')], path).toEqual([403, false]);
  }
});
