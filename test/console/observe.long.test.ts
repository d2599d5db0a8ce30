// Metrics, logs and analytics by clicks: a metric is opened and kept on a dashboard, whose panels are ordered; records are narrowed by a value of
// theirs, and rest while they are paused; a funnel is saved by name.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDone, expectSound, openConsole } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
  const call = client(service.url, account.secret);
  const jobs = ['mail', 'video'].map((queue) => ({ name: 'jobs', type: 'gauge', value: 3, labels: { queue } }));
  const records = ['eu', 'us'].map((zone) => ({ service: 'shop', message: `from ${zone}`, attributes: { zone } }));
  const events = ['signed_up', 'paid'].map((event) => ({ event, distinct_id: 'ann' }));
  expect((await call('POST', '/v1/metrics/ingest', { items: jobs })).status).toBe(200);
  expect((await call('POST', '/v1/logs/ingest', { items: records })).status).toBe(200);
  expect((await call('POST', '/v1/analytics/capture', { items: events })).status).toBe(200);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

async function open(path: string) {
  const opened = await openConsole(chromium.browser, service.url, account.secret);
  await opened.page.goto(`${service.url}/console${path}`);
  return { opened, page: opened.page };
}

test('a metric is drawn by its labels, and kept on a dashboard whose panels are ordered', async () => {
  const call = client(service.url, account.secret);
  await call('POST', '/v1/metrics/dashboard/create', { name: 'Shop', panels: [{ title: 'First', query: 'jobs' }] });
  const { opened, page } = await open('/metrics');
  await page.click('main tbody a:has-text("jobs")');
  await page.selectOption('select[name="l.queue"]', 'mail');
  await page.click('form:has(input[name=metric]) button');
  expect(await page.inputValue('input[name=query]')).toBe('jobs{queue="mail"}');
  await page.waitForSelector('.drawn canvas');
  await page.click('summary:has-text("Add this query")');
  await page.click('details a:has-text("Shop")');
  await page.fill('#add-title', 'Mail');
  await page.click('main form.act button');
  await expectDone(page, 'Panel added.');
  const titles = () => page.locator('.boards figcaption').allTextContents();
  expect((await titles()).map((text) => text.split(' ')[0])).toEqual(['First', 'Mail']);
  await page.click('button:has-text("Move down")');
  await expectDone(page, 'Panel moved.');
  expect((await titles()).map((text) => text.split(' ')[0])).toEqual(['Mail', 'First']);
  await expectSound(opened, 'Shop');
});

test('records are narrowed by a value of theirs, and rest while they are paused', async () => {
  const { opened, page } = await open('/logs');
  await page.click('summary:has-text("Fields")');
  await page.locator('.facts .chips a', { hasText: /^eu$/ }).click();
  await expect.poll(() => page.locator('details.record').count()).toBe(1);
  await page.click('a:has-text("Pause")');
  await expect.poll(() => page.locator('.badge:has-text("Paused")').count()).toBe(1);
  await page.locator('.chips li', { hasText: 'zone' }).locator('a').click();
  await expect.poll(() => page.locator('details.record').count()).toBe(2);
  await expectSound(opened, 'Logs');
});

test('a funnel is saved by name and asked again where it is found', async () => {
  const { opened, page } = await open('/analytics?ask=funnel&step=signed_up&step=paid');
  await page.click('summary:has-text("Save this question")');
  await page.fill('#save-name', 'Buyers');
  await page.click('button:has-text("Save question")');
  await expectDone(page, 'Question saved.');
  await page.goto(`${service.url}/console/analytics`);
  await page.click('a:has-text("Buyers")');
  await expect.poll(() => page.locator('.funnel').count()).toBe(2);
  await expectSound(opened, 'Buyers');
});
