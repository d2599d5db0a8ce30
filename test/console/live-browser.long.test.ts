// A page that follows its account changes under the hands of who reads it: what has the focus, what was typed, opened or scrolled to stays.
// Where it is not seen, or has no stream, it does less; a form is done once, and tells so once.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

const MORPHS = 100;
const TYPED =
  'queues of programs that were written by nobody in particular, and more of them than anybody can count by hand';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  await bench.call('POST', '/v1/queue/create', { name: 'jobs' });
});
afterAll(() => bench?.stop());

/** Keeps the page's own stream, so that it can be told of a move without waiting two seconds for each, and counts what was changed. */
const FOLLOWED = `
  const Real = EventSource;
  window.EventSource = class extends Real { constructor(url) { super(url); window.stream = this; } };
  document.addEventListener('morphed', () => { window.morphs = (window.morphs ?? 0) + 1; });`;
const MOVED = "window.stream.dispatchEvent(new MessageEvent('message', { data: 'moved' }))";
const ASKED = 'fetch(location.href).then((answer) => answer.text())';
const morphs = (page: Page) => page.evaluate('window.morphs ?? 0');
const publish = (payload: object = {}) => bench.call('POST', '/v1/queue/publish', { queue: 'jobs', payload });

/** What the page had asked for by now has been answered, and more. */
async function settle(page: Page): Promise<void> {
  for (let n = 0; n < 3; n += 1) await page.evaluate(ASKED);
}

test(`who types keeps the focus, the place in the text and the text over ${MORPHS} changes of the page`, async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret, {
    viewport: { width: 800, height: 500 },
  });
  await page.addInitScript(FOLLOWED);
  await page.goto(`${bench.service.url}/console/queues/jobs/settings`);
  await page.evaluate("document.querySelector('#calls').open = true");
  const field = page.locator('main form input[type=text], main form input:not([type]), main form textarea').last();
  await field.fill('');
  await field.focus();
  const before = (await page.textContent('main')) ?? '';
  const place = await field.boundingBox();
  for (let n = 0; n < MORPHS; n += 1) {
    expect((await publish({ n })).status).toBe(200);
    await page.keyboard.type(TYPED[n] as string);
    await page.evaluate(MOVED);
    await expect.poll(() => morphs(page)).toBeGreaterThan(n);
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
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
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
  expect(await page.evaluate('document.activeElement.name')).toBe('q');
  await page.keyboard.type('gq?j');
  expect([await page.inputValue('#palette input'), at()]).toEqual(['gq?j', '/console/usage']);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.click('.who');
  await page.uncheck('form.view input[name=keys]');
  await page.click('form.view button:not([data-own-zone])');
  await expect.poll(() => page.locator('body[data-keys]').count()).toBe(0);
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await page.keyboard.press('?');
  // A key that led somewhere would be there before the next answer of the page.
  await page.evaluate('fetch(location.href)');
  expect([at(), await page.locator('dialog#keys').count()]).toEqual(['/console/usage', 0]);
  expect(faults).toEqual([]);
});

test('a hidden tab closes its stream and asks for nothing; seen again it is brought up to date and follows', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.addInitScript(FOLLOWED);
  await page.goto(`${bench.service.url}/console/queues/jobs`);
  await expect.poll(() => page.evaluate('window.stream.readyState')).toBe(1);
  const see = (isSeen: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!isSeen} });
      document.dispatchEvent(new Event('visibilitychange'));`);
  await see(false);
  expect(await page.evaluate('window.stream.readyState')).toBe(2);
  const before = await morphs(page);
  await publish();
  await page.evaluate(MOVED);
  await settle(page);
  expect(await morphs(page)).toBe(before);
  await see(true);
  await expect.poll(() => morphs(page)).toBeGreaterThan(Number(before));
  await expect.poll(() => page.evaluate('window.stream.readyState')).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the sixth page of a session has no stream, and looks again after ten seconds', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  // Without its own stream.
  await page.goto('about:blank');
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies(bench.service.url);
  const abort = new AbortController();
  const open = async () => {
    const headers = { cookie: `${name}=${value}` };
    return (await fetch(`${bench.service.url}/console/live?since=`, { headers, signal: abort.signal })).status;
  };
  for (let n = 0; n < 5; n += 1) await expect.poll(open).toBe(200);
  // Time stands still, and moves when the test says so.
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
  await page.addInitScript(FOLLOWED);
  const refetches: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') refetches.push(request.headers()['x-qm-refetch']);
  });
  await page.goto(`${bench.service.url}/console/queues/jobs`);
  // Refused.
  await expect.poll(() => page.evaluate('window.stream.readyState')).toBe(2);
  await page.clock.runFor(9_990);
  expect(refetches).toEqual([]);
  const before = await page.textContent('main');
  await publish();
  await page.clock.runFor(10_010);
  await expect.poll(() => page.textContent('main')).not.toBe(before);
  // Nobody has used the session by that.
  expect(refetches).toEqual(['1']);
  expect(faults.filter((fault) => !fault.includes('429'))).toEqual([]);
  abort.abort();
  await page.context().close();
});

test('a double click does it once, also when the page would have changed in between; what it did is told once', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.addInitScript(FOLLOWED);
  const address = `${bench.service.url}/console/queues/jobs/publish`;
  await page.goto(address);
  const sent: string[] = [];
  await page.context().route(address, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    sent.push(route.request().postData() ?? '');
    // The service does it, and its answer takes long.
    if (sent.length === 1) await route.fetch({ maxRedirects: 0 });
    else await route.continue();
  });
  const waiting = async () => (await bench.call('GET', '/v1/queue/stats/jobs')).body.data.message_count;
  const before = await waiting();
  const form = 'main form:has(input[value=publish])';
  await page.fill(`${form} [name=payload]`, '{"n": 1}');
  // The second click comes when the page has been told of a move, and had the time to fetch itself again.
  await page.evaluate(`document.addEventListener('submit', async () => {
    ${MOVED};
    for (let n = 0; n < 3; n += 1) await ${ASKED};
    document.querySelector('${form} button').click();
  }, { once: true })`);
  await page.click(`${form} button`, { noWaitAfter: true });
  const done = page.locator('main > .done');
  await expect.poll(() => done.allTextContents()).toEqual(['Message published.']);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toBe(sent[0]);
  expect(await waiting()).toBe(before + 1);
  // It stays to be read, and is told no second time.
  await expect.poll(() => page.url()).toBe(address);
  const seen = Number(await morphs(page));
  await publish();
  await page.evaluate(MOVED);
  await expect.poll(() => morphs(page)).toBeGreaterThan(seen);
  expect(await done.count()).toBe(1);
  await page.reload();
  expect(await done.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
