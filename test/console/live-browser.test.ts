// A page that follows its account changes under the hands of who reads it: what has the focus, what was typed, opened or scrolled to stays.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const MORPHS = 100;
const TYPED =
  'queues of programs that were written by nobody in particular, and more of them than anybody can count by hand';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let call: Client;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test(`who types keeps the focus, the place in the text and the text over ${MORPHS} changes of the page`, async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret, {
    viewport: { width: 800, height: 500 },
  });
  // The page's own stream, so that it can be told of a move without waiting two seconds for each.
  await page.addInitScript(`
    const Real = EventSource;
    window.EventSource = class extends Real { constructor(url) { super(url); window.stream = this; } };
    document.addEventListener('morphed', () => { window.morphs = (window.morphs ?? 0) + 1; });`);
  await page.goto(`${service.url}/console/queues/jobs`);
  await page.evaluate("document.querySelector('#calls').open = true");
  const field = page.locator('main form input[type=text], main form input:not([type]), main form textarea').last();
  await field.fill('');
  await field.focus();
  const before = (await page.textContent('main')) ?? '';
  const place = await field.boundingBox();
  for (let n = 0; n < MORPHS; n += 1) {
    expect((await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n } })).status).toBe(200);
    await page.keyboard.type(TYPED[n] as string);
    await page.evaluate("window.stream.dispatchEvent(new MessageEvent('message', { data: 'moved' }))");
    await expect.poll(() => page.evaluate('window.morphs ?? 0')).toBeGreaterThan(n);
  }
  expect(await field.inputValue()).toBe(TYPED.slice(0, MORPHS));
  const seen = await field.evaluate((element) => {
    const { selectionStart } = element as unknown as { selectionStart: number };
    return [element === element.ownerDocument.activeElement, selectionStart];
  });
  expect(seen).toEqual([true, MORPHS]);
  expect(await page.evaluate("document.querySelector('#calls').open")).toBe(true);
  // What is above it has grown meanwhile.
  expect((await field.boundingBox())?.y).toBeCloseTo(place?.y ?? 0, -1);
  // It was the page that changed.
  expect(before).not.toContain(`${MORPHS} `);
  await expect.poll(() => page.textContent('main')).toContain(String(MORPHS));
  expect(faults).toEqual([]);
});

test('letters lead through the console, rest while somebody types, and can be switched off', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  const at = () => new URL(page.url()).pathname;
  const isAt = async (path: string) => {
    await expect.poll(at).toBe(path);
    // Letters are heard once the script is there.
    await page.waitForLoadState('load');
  };
  await isAt('/console');
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await isAt('/console/queues');
  await page.keyboard.press('j');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('jobs');
  await page.keyboard.press('?');
  expect(await page.locator('dialog#keys').isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await page.locator('dialog#keys').isVisible()).toBe(false);
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await isAt('/console/usage');
  await page.keyboard.press('/');
  expect(await page.evaluate('document.activeElement.name')).toBe('capability');
  await page.keyboard.type('gq?j');
  expect([await page.inputValue('input[name=capability]'), at()]).toEqual(['gq?j', '/console/usage']);
  await page.uncheck('form.view input[name=keys]');
  await page.click('form.view button');
  await expect.poll(() => page.locator('body[data-keys]').count()).toBe(0);
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await page.keyboard.press('?');
  // A key that led somewhere would be there before the next answer of the page.
  await page.evaluate('fetch(location.href)');
  expect([at(), await page.locator('dialog#keys').count()]).toEqual(['/console/usage', 0]);
  expect(faults).toEqual([]);
});
