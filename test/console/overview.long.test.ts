// The first page of the console in Chromium: sound at every width, in both colors, with and without scripts; it rises when money comes in.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSound, openConsole } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 12.5);
  const call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs-dead' });
  await call('POST', '/v1/queue/create', { name: 'jobs', dead_letter_queue: 'jobs-dead', max_retries: 1 });
  for (let n = 0; n < 5; n += 1) await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n } });
  const { body } = await call('POST', '/v1/queue/consume', { queue: 'jobs', max_messages: 2 });
  for (const { message_id, receipt_handle } of body.data.items)
    await call('POST', '/v1/queue/nack', { queue: 'jobs', message_id, receipt_handle });
  await call('POST', '/v1/errors/capture', { title: 'Payment <b>failed</b>', level: 'error' });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

const looks = [360, 1_440].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

test.each(looks)('is sound: $width px, $colorScheme', async ({ width, colorScheme }) => {
  const viewport = { width, height: 900 };
  const opened = await openConsole(chromium.browser, service.url, account.secret, { viewport, colorScheme });
  await expectSound(opened, 'Overview');
  await opened.page.context().close();
});

test('without scripts all figures stand in the page', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret, {
    javaScriptEnabled: false,
  });
  expect(await page.textContent('h1')).toBe('Overview');
  expect(await page.locator('figure.plot details[open] tbody tr').count()).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});

test('the balance rises without a reload when money comes in', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  const balance = () => page.textContent('.figures dd');
  const before = await balance();
  await page.evaluate('window.isSame = true');
  await client(service.url, account.secret)('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  await expect.poll(balance).not.toBe(before);
  expect(await page.evaluate('window.isSame')).toBe(true);
  expect(faults).toEqual([]);
});

test('the plot tells what is spent now, also of a page that has changed in place', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  const call = client(service.url, account.secret);
  const cell = page.locator('figure.plot details').first().locator('tbody tr').last().locator('td').first();
  const before = await cell.getAttribute('data-value');
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  await expect.poll(() => cell.getAttribute('data-value')).not.toBe(before);
  const over = page.locator('.u-over').first();
  const { width = 0, height = 0 } = (await over.boundingBox()) ?? {};
  await over.hover({ position: { x: width - 2, y: height / 2 } });
  const told = page.locator('.tip div:has-text("queue.publish") b');
  await expect.poll(() => told.textContent()).toBe(`$${await cell.textContent()}`);
  // In other colors it is drawn anew, and the page stays: what somebody has typed is not lost.
  const canvas = await page.locator('.drawn canvas').elementHandle();
  await page.fill('input[name=from]', '2026-01-02');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => canvas?.evaluate((element) => element.isConnected)).toBe(false);
  expect(await page.locator('.drawn canvas').count()).toBe(1);
  expect(await page.inputValue('input[name=from]')).toBe('2026-01-02');
  expect(faults).toEqual([]);
});
