// From an empty directory to credited test money, as a person does it: a link, a page, a card. The pages hold without scripts, for whoever
// cannot see them, and against what other sites try.
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';
import { type Client, client } from '../support/service.ts';

let place: Place;
let chromium: TestBrowser;
let call: Client;
let shop: Server;
let shopUrl: string;
beforeAll(async () => {
  place = await createPlace();
  [chromium] = await Promise.all([startBrowser(), startProcess(place)]);
  call = client(place.url, await keyOfPerson());
  shop = createServer((_, res) => res.end('the shop')).listen(0, '127.0.0.1');
  await new Promise((resolve) => shop.once('listening', resolve));
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/done?order=7`;
});
afterAll(async () => {
  shop?.close();
  await chromium?.close();
  await place?.remove();
});

/** As the operator does it: an account of an e-mail address, and a key of it. */
async function keyOfPerson(): Promise<string> {
  const qm = async (...args: string[]) => {
    const { PATH = '', HOME = '' } = process.env;
    const command = [join(PROJECT, 'src/cli/main.ts'), ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: { PATH, HOME, ...place.env } });
    return JSON.parse(stdout);
  };
  const { account_id } = await qm('accounts', 'create', '--email', 'payer@example.org');
  const { key_secret } = await qm('keys', 'create', '--account', account_id);
  return key_secret;
}

async function begin(input: object = {}) {
  const { status, body } = await call('POST', '/v1/account/topup', input);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data as { topup_id: string; checkout_url: string };
}

const statusOf = async (id: string) => (await call('GET', `/v1/account/topup/get/${id}`)).body.data.status;
const balance = async () => (await call('GET', '/v1/account/balance')).body.data;

async function open(url: string): Promise<Page> {
  // What works without scripts needs none.
  const context = await chromium.browser.newContext();
  const page = await context.newPage();
  const answer = await page.goto(url);
  expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'");
  return page;
}

async function pick(page: Page, card: string) {
  await page.check(`#card-${card}`);
  await page.click('button.main');
}

const heading = (page: Page) => page.textContent('h1');

test('by keyboard: the link, the card, the balance', async () => {
  const before = (await balance()).test_usd;
  const { topup_id, checkout_url } = await begin({ amount_usd: 12.5 });
  const page = await open(checkout_url);
  expect(await heading(page)).toBe('Pay 12.50 USD');
  expect(await page.textContent('.notice')).toContain('Test money');
  expect(await page.locator('input:not([type=radio])').count()).toBe(0);
  await expectAccessible(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=status]');
  await expectAccessible(page);
  await page.click('text=Continue');
  expect(await heading(page)).toBe('Thank you');
  await expectAccessible(page);
  expect(await statusOf(topup_id)).toBe('succeeded');
  expect((await balance()).test_usd).toBe(before + 12.5);
  await page.context().close();
});

describe('every test card', () => {
  test('that is declined says so at the field, and another one pays', async () => {
    const { topup_id, checkout_url } = await begin();
    const page = await open(checkout_url);
    await pick(page, 'declines');
    const failure = await page.textContent('#failure');
    expect(failure).toContain('declined');
    expect(await page.getAttribute('fieldset', 'aria-describedby')).toBe('failure');
    await expectAccessible(page);
    expect(await statusOf(topup_id)).toBe('pending');
    await pick(page, 'pays');
    await page.click('text=Continue');
    expect(await statusOf(topup_id)).toBe('succeeded');
    await page.context().close();
  });

  test('that asks for authentication pays once it is confirmed, and not when it is refused', async () => {
    const { topup_id, checkout_url } = await begin();
    const page = await open(checkout_url);
    await pick(page, 'authenticates');
    expect(await heading(page)).toBe('Confirm that it is you');
    await expectAccessible(page);
    await page.click('text=This is not me');
    expect(await page.textContent('#failure')).toContain('not confirmed');
    await pick(page, 'authenticates');
    await page.click('text=Confirm >> nth=-1');
    await page.click('text=Continue');
    expect(await statusOf(topup_id)).toBe('succeeded');
    await page.context().close();
  });

  test.each([
    ['reviewed', 'review'],
    ['slow', 'pending'],
    ['declines_later', 'succeeded'],
  ])('that is %s: %s', async (card, status) => {
    const { topup_id, checkout_url } = await begin();
    const page = await open(checkout_url);
    await pick(page, card);
    await page.click('text=Continue');
    expect(await statusOf(topup_id)).toBe(status);
    await expectAccessible(page);
    await page.context().close();
  });
});

test('a tier: the link, the page, the first month, and the tier is there when the payer comes back', async () => {
  const upgrade = { target: 'team', return_url: shopUrl };
  const { checkout_url } = (await call('POST', '/v1/account/tier/upgrade', upgrade)).body.data;
  const page = await open(checkout_url);
  await expectAccessible(page);
  await pick(page, 'pays');
  await page.click('text=Continue');
  await page.waitForURL(/\/done/);
  const subscription = (await call('GET', '/v1/account/subscription/get')).body.data;
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    order: '7',
    subscription_id: subscription.subscription_id,
    status: 'active',
  });
  expect(subscription).toMatchObject({ status: 'active', label: 'team', test_mode: true });
  expect((await call('GET', '/v1/account/tier')).body.data.tier).toBe('pro');
  await page.context().close();
});

test('the payer comes back to the caller’s page with id and status; what an address claims changes nothing', async () => {
  const { topup_id, checkout_url } = await begin({ return_url: shopUrl });
  const page = await open(checkout_url);
  await page.goto(`${place.url}/pay/return/${topup_id}?status=succeeded`);
  expect(await page.textContent('h1')).toBe('Nearly done');
  expect(await statusOf(topup_id)).toBe('pending');
  await page.goto(checkout_url);
  await pick(page, 'pays');
  await page.click('text=Continue');
  expect(page.url()).toBe(`${shopUrl}&topup_id=${topup_id}&status=succeeded`);
  expect(await page.textContent('body')).toBe('the shop');
  await page.context().close();
});

describe('the page', () => {
  const post = (url: string, headers: Record<string, string>, card = 'pays') =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: `card=${card}`,
      redirect: 'manual',
    });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{}, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 303],
  ])('takes a form with %j: %i', async (headers, status) => {
    const { topup_id, checkout_url } = await begin();
    const answer = await post(checkout_url, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    await fetch(`${place.url}/pay/return/${topup_id}`);
    expect(await statusOf(topup_id)).toBe(status === 303 ? 'succeeded' : 'pending');
  });

  test('changes nothing by being looked at, however; a second payment of one link pays nothing', async () => {
    const { topup_id, checkout_url } = await begin();
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) await fetch(`${checkout_url}?card=pays`, { method });
    expect(await statusOf(topup_id)).toBe('pending');
    const before = (await balance()).balance_usd;
    const own = { 'sec-fetch-site': 'same-origin' };
    await Promise.all([post(checkout_url, own), post(checkout_url, own, 'reviewed'), post(checkout_url, own, 'slow')]);
    await post(checkout_url, own);
    await fetch(`${place.url}/pay/return/${topup_id}`);
    expect((await balance()).balance_usd - before).toBeLessThanOrEqual(10);
  });

  test.each([
    ['/pay/nobody', 404],
    [`/pay/${'x'.repeat(200)}`, 404],
    ["/pay/'%20OR%201=1", 404],
    ['/pay/%00', 404],
    ['/pay/return/top_1111111111111111111111', 404],
    ['/pay/return/..%2f..%2fv1', 404],
  ])('%s: %i, and nothing of what was sent is shown', async (path, status) => {
    const answer = await fetch(place.url + path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(await answer.text()).not.toContain('OR 1=1');
  });

  test('asks for one of its cards when something else is sent', async () => {
    const { checkout_url } = await begin();
    const answer = await post(checkout_url, { 'sec-fetch-site': 'same-origin' }, '<script>');
    expect(answer.status).toBe(400);
    const text = await answer.text();
    expect(text).toContain('Choose one of the test cards.');
    expect(text).not.toContain('<script>');
  });
});
