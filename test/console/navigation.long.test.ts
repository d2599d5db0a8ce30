// The navigation in Chromium: what is asked for most is in sight, a group stays folded from page to page, and it scrolls by itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSound, openConsole } from '../support/console.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test('keys, usage and the documentation are in sight at 900 px', async () => {
  const viewport = { width: 1_440, height: 900 };
  const opened = await openConsole(chromium.browser, service.url, account.secret, { viewport });
  const { page } = opened;
  await expectSound(opened, 'Overview');
  for (const link of ['#pages a[href="/console/keys"]', '#pages a[href="/console/usage"]', '.to-docs[href="/docs"]']) {
    const box = await page.locator(link).boundingBox();
    expect(box === null ? null : box.y + box.height, link).toBeLessThan(900);
  }
  await page.click('.to-docs[href="/docs"]');
  expect(new URL(page.url()).pathname).toBe('/docs');
});

test('a group that is folded stays so on other pages, and opens again', async () => {
  const opened = await openConsole(chromium.browser, service.url, account.secret);
  const { page, faults } = opened;
  const group = page.locator('#pages details[data-group=observe]');
  const folded = async () =>
    (await page.context().cookies()).find(({ name }) => name === 'qm_folded')?.value.split('.') ?? [];
  await group.locator('summary').click();
  await expect.poll(() => page.locator('#pages a[href="/console/logs"]').isVisible()).toBe(false);
  await expect.poll(folded).toContain('observe');
  await page.goto(`${service.url}/console/queues`);
  expect(await group.getAttribute('open')).toBeNull();
  // By its letter the page is reached all the same, and its group shows where it is.
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.waitForURL('**/console/logs');
  expect(await group.locator('summary').getAttribute('class')).toBe('here');
  await group.locator('summary').click();
  await expect.poll(folded).not.toContain('observe');
  await page.goto(`${service.url}/console/keys`);
  expect(await group.getAttribute('open')).toBe('');
  expect(faults).toEqual([]);
});
