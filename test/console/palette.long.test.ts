// The palette by keyboard: pages, actions and objects by a few letters, the focus back where it was, and nothing that breaks the policy.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { keepPicture, openConsole } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

/** What stands there, as it is read: name and kind. */
const shown = (page: Page) => page.locator('#found a:visible').allTextContents();
const chosen = (page: Page) => page.locator('#found a[aria-selected=true]').textContent();

async function open(options = {}) {
  const { secret } = await createTestAccount(service.core, 5);
  const call = client(service.url, secret);
  await call('POST', '/v1/queue/create', { name: 'orders' });
  const opened = await openConsole(chromium.browser, service.url, secret, options);
  await opened.page.waitForLoadState('load');
  return { ...opened, call };
}

test('a page, an action and an object by a few letters, the arrows and Enter', async () => {
  const { page, faults } = await open();
  const at = () => page.evaluate('location.pathname + location.search');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('ledg');
  await expect.poll(() => page.textContent('#palette [role=status]')).toBe('0 results');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('usage');
  expect(await chosen(page)).toBe('Usagepage');
  await page.keyboard.press('Enter');
  await expect.poll(at).toBe('/console/usage');
  await page.waitForLoadState('load');
  await page.keyboard.press('/');
  await page.keyboard.type('new sched');
  expect(await chosen(page)).toBe('New scheduleaction');
  await page.keyboard.press('Enter');
  await expect.poll(at).toBe('/console/schedules?new=1');
  await page.waitForLoadState('load');
  await page.focus('#create-name');
  // Also while typing.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('ord');
  await expect.poll(() => shown(page)).toEqual(['ordersqueue']);
  await expect.poll(() => page.textContent('#palette [role=status]')).toBe('1 result');
  await keepPicture(page, 'palette');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect.poll(at).toBe('/console/queues/orders');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the arrows go around, Escape gives the focus back, and what is named by strangers is text', async () => {
  const { page, faults, call } = await open();
  await call('POST', '/v1/account/keys/create', { name: '<img src=x onerror=alert(1)> zulu' });
  await page.focus('.who');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zulu');
  await expect.poll(() => shown(page)).toEqual(['<img src=x onerror=alert(1)> zulukey']);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('k');
  const all = await shown(page);
  expect(all.length).toBeGreaterThan(1);
  await page.keyboard.press('ArrowUp');
  expect(await chosen(page)).toBe((await shown(page)).at(-1));
  await page.keyboard.press('ArrowDown');
  expect(await chosen(page)).toBe(all[0]);
  const active = await page.getAttribute('#palette input', 'aria-activedescendant');
  expect(await page.textContent(`#${active}`)).toBe(all[0]);
  // The first Escape clears the field, as fields of a search do.
  await page.keyboard.press('Escape');
  if (await page.locator('#palette').isVisible()) await page.keyboard.press('Escape');
  expect(await page.locator('#palette').isVisible()).toBe(false);
  expect(await page.evaluate('document.activeElement.className')).toBe('who');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('without scripts the button leads to the page of the search', async () => {
  const { page, faults } = await open({ javaScriptEnabled: false });
  await page.click('a.search');
  await page.fill('main input[name=q]', 'ord');
  await page.click('main form[role=search] button');
  expect(await page.textContent('tbody th')).toBe('orders');
  expect(faults).toEqual([]);
  await page.context().close();
});
