// What people come to the console for, from its first page, by clicks: each task takes at most four. Typing counts as none; a choice in a list and
// a switch count as one. Signed in is an owner.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsolePage, expectDone, openConsole, personSession } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

const CLICKS_MAX = 4;
const KEY_NAME = 'shop-api';

let bench: ConsoleBench;
let session: string;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  const { accountId } = bench.account;
  session = await personSession(bench.service.core, {
    accountId,
    email: 'owner@example.org',
    name: 'Ada',
    role: 'owner',
  });
});
afterAll(() => bench?.stop());

/** A person at the first page, who counts clicks. */
class Visitor {
  readonly page: Page;
  readonly #opened: ConsolePage;
  #clicks = 0;

  private constructor(opened: ConsolePage) {
    this.#opened = opened;
    this.page = opened.page;
  }

  static async arrive(): Promise<Visitor> {
    const { chromium, service } = bench;
    const opened = await openConsole(chromium.browser, service.url, { session });
    await opened.page.setViewportSize({ width: 1_440, height: 900 });
    await opened.page.goto(`${service.url}/console`);
    return new Visitor(opened);
  }

  async click(selector: string): Promise<void> {
    this.#clicks += 1;
    await this.page.click(selector);
  }

  /** To a page of the navigation. */
  go(label: string): Promise<void> {
    return this.click(`#pages a:text-is("${label}")`);
  }

  async choose(selector: string, value: string): Promise<void> {
    this.#clicks += 1;
    await this.page.selectOption(selector, value);
  }

  /** Types, and sends the form by Enter. */
  async enter(selector: string, text: string): Promise<void> {
    await this.page.fill(selector, text);
    await this.page.press(selector, 'Enter');
  }

  /** The text is on the page, which took at most four clicks and broke no policy. */
  async sees(text: string): Promise<void> {
    await expect.poll(() => this.page.textContent('main')).toContain(text);
    expect(this.#clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(this.#opened.faults).toEqual([]);
    await this.page.context().close();
  }
}

async function data(method: string, path: string, body?: object) {
  const { status, text, body: answer } = await bench.call(method, `/v1/${path}`, body);
  expect(status, text).toBe(200);
  return answer.data;
}

test('one customer’s mail is found', async () => {
  for (const [to, subject] of [
    ['ada@example.org', 'Your invoice'],
    ['bob@example.org', 'Your receipt'],
  ])
    await data('POST', 'email/send', { from: 'Shop <shop@example.com>', to, subject, text: 'Hello.' });
  const visitor = await Visitor.arrive();
  await visitor.go('Email');
  await visitor.enter('input[name=recipient]', 'ada@example.org');
  await expect.poll(() => visitor.page.locator('main tbody tr').count()).toBe(1);
  await visitor.click('main tbody a:has-text("ada@example.org")');
  await visitor.sees('Your invoice');
});

test('a flag is rolled out to 10 %', async () => {
  const variants = { on: true, off: false };
  await data('POST', 'flags/create', { key: 'checkout', type: 'boolean', variants, default_variant: 'off' });
  const visitor = await Visitor.arrive();
  await visitor.go('Flags');
  await visitor.click('tbody a:has-text("checkout")');
  await visitor.choose('#rules-rest-0-give', 'shares');
  await visitor.enter('#rules-rest-0-share-0', '10');
  await expectDone(visitor.page, 'Rules saved');
  const { targeting } = await data('GET', 'flags/get/checkout');
  expect(targeting).toEqual({ fractional: Object.entries({ on: 10, off: 90 }) });
  await visitor.sees('checkout');
});

test('a metric is drawn', async () => {
  await data('POST', 'metrics/ingest', {
    items: [{ name: 'orders', type: 'gauge', value: 3, labels: { shop: 'eu' } }],
  });
  const visitor = await Visitor.arrive();
  await visitor.go('Metrics');
  await visitor.click('main tbody a:has-text("orders")');
  await visitor.page.waitForSelector('.drawn canvas');
  await visitor.sees('shop');
});

test('what stood around a log record is read', async () => {
  const items = ['before it', 'the record', 'after it'].map((message) => ({ service: 'shop', message }));
  for (const item of items) await data('POST', 'logs/ingest', { items: [item] });
  const visitor = await Visitor.arrive();
  await visitor.go('Logs');
  await visitor.click('details.record summary:has-text("the record")');
  await visitor.click('details.record[open] a:has-text("wrote before and after")');
  await visitor.sees('before it');
});

test('a funnel is asked for', async () => {
  const items = ['signed_up', 'paid'].map((event) => ({ event, distinct_id: 'ann' }));
  await data('POST', 'analytics/capture', { items });
  const visitor = await Visitor.arrive();
  await visitor.go('Analytics');
  await visitor.click('a:text-is("Funnel")');
  await visitor.page.fill('input[name=step] >> nth=0', 'signed_up');
  await visitor.enter('input[name=step] >> nth=1', 'paid');
  await expect.poll(() => visitor.page.locator('.funnel').count()).toBe(2);
  await visitor.sees('signed_up');
});

test('a failed delivery of a webhook shows what was sent, and is sent again', async () => {
  bench.receiver.status = 500;
  const url = bench.receiver.url('/broken');
  const { webhook_id: id } = await data('POST', 'account/webhooks/register', { url, events: ['queue.dlq'] });
  await data('POST', `account/webhooks/test/${id}`, { order: 17 });
  const visitor = await Visitor.arrive();
  await visitor.go('Webhooks');
  await visitor.click(`tbody a[href*="${id}"]`);
  await visitor.click('tbody summary:has-text("Details")');
  await expect.poll(() => visitor.page.locator('tbody details[open]').textContent()).toContain('17');
  await visitor.click('tbody button:has-text("Redeliver"), tbody button:has-text("Resend now")');
  await expectDone(visitor.page, 'Resending');
  await visitor.sees('queue.dlq');
});

test('a key is made that reads only', async () => {
  const visitor = await Visitor.arrive();
  await visitor.go('Keys');
  await visitor.click('a:has-text("New key")');
  await visitor.page.fill('input[name=name]', KEY_NAME);
  await visitor.click('label:has-text("Read only")');
  await visitor.click('main button.main:has-text("Create key")');
  await visitor.sees(`Secret of ${KEY_NAME}`);
});

test('who made a key is told', async () => {
  const visitor = await Visitor.arrive();
  await visitor.go('Audit log');
  await expect.poll(() => visitor.page.locator('tbody tr', { hasText: `Created key ${KEY_NAME}` }).count()).toBe(1);
  expect(await visitor.page.locator('tbody tr', { hasText: `Created key ${KEY_NAME}` }).textContent()).toContain('you');
  await visitor.sees('Created key');
});

test('a key is revoked by its name', async () => {
  const visitor = await Visitor.arrive();
  await visitor.go('Keys');
  await visitor.click(`tbody a:has-text("${KEY_NAME}")`);
  await visitor.click('a:has-text("Revoke key")');
  await visitor.enter('main form input[type=text], main form input:not([type])', KEY_NAME);
  await expect.poll(() => visitor.page.locator('.done').count()).toBe(1);
  const { items } = await data('GET', 'account/keys/list?status=revoked');
  expect(items.map(({ name }: { name: string }) => name)).toContain(KEY_NAME);
  await visitor.sees('Keys');
});

test('a person is invited as a developer', async () => {
  const visitor = await Visitor.arrive();
  await visitor.go('Account');
  await visitor.click('label:has-text("Developer")');
  await visitor.enter('form[action$="/invite"] input[name=email]', 'bob@example.org');
  await visitor.sees('bob@example.org');
});
