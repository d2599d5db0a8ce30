// Buttons that copy: a browser that lets pages copy gets the text, and says so.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test('the id of a request is copied by its button, and the pages stand in a menu on a narrow screen', async () => {
  const account = await createTestAccount(service.core);
  const { request_id: id } = (await client(service.url, account.secret)('GET', '/v1/queue/get/none')).body.error;
  const { page } = await openConsole(chromium.browser, service.url, account.secret);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${service.url}/console/requests/${id}`);
  await page.click('.copied:has-text("req_") button');
  await page.waitForSelector('button:has-text("Copied")');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id);
  await page.setViewportSize({ width: 390, height: 800 });
  const entry = page.locator('#pages a:has-text("Audit log")');
  expect(await entry.isVisible()).toBe(false);
  await page.click('button:has-text("Menu")');
  await entry.click();
  await page.waitForURL('**/console/audit');
});
