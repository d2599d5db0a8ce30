// The documentation in a real browser: the search by keyboard, tabs, narrow and wide, light and dark, and without scripts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsolePage,
  expectSound,
  forgetStatus,
  keepPicture,
  openConsole,
  press,
  tabTo,
} from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

async function open(path: string, options: Parameters<typeof openConsole>[3] = {}, secret: string | null = null) {
  const { browser } = bench.chromium;
  const opened = await openConsole(browser, bench.service.url, secret, options);
  await opened.page.goto(`${bench.service.url}${path}`);
  return opened;
}

async function close({ page, faults }: ConsolePage): Promise<void> {
  expect(faults).toEqual([]);
  await page.context().close();
}

const pathOf = ({ page }: ConsolePage) => `${new URL(page.url()).pathname}${new URL(page.url()).hash}`;

const pages = [
  ['/docs', 'Infrastructure for software agents'],
  ['/docs/guides/queues', 'Queues'],
  ['/docs/guides/ai', 'Language models'],
  ['/docs/guides/self-hosting', 'Self-hosting'],
  ['/docs/modules/queue', 'queue'],
  ['/docs/capabilities/video.generate', 'video.generate'],
  ['/docs/errors', 'Error codes'],
  ['/docs/errors/QUEUE_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  ['/docs/events/queue.dlq', 'queue.dlq'],
  ['/docs/errors/NOPE', 'Page not found'],
] as const;

describe.each([
  { width: 320, colorScheme: 'dark' },
  { width: 1_440, colorScheme: 'light' },
] as const)('at $width px, $colorScheme', ({ width, colorScheme }) => {
  test('each page is accessible and no wider than its window', async () => {
    const opened = await open('/docs', { colorScheme, viewport: { width, height: 900 } });
    for (const [path, heading] of pages) {
      await opened.page.goto(`${bench.service.url}${path}`);
      forgetStatus(opened.faults);
      await expect.poll(() => opened.page.textContent('h1')).toBe(heading);
      await expectSound(opened);
      await keepPicture(opened.page, `${path}-${width}`);
    }
    await close(opened);
  });
});

describe('the search', () => {
  test('opens, finds and leads there by keyboard alone', async () => {
    const opened = await open('/docs');
    const { page } = opened;
    for (const [text, to] of [
      ['a dead-letter queue', '/docs/guides/queues#a-dead-letter-queue'],
      ['QUEUE_NOT_FOUND', '/docs/errors/QUEUE_NOT_FOUND'],
      ['vector.upsert', '/docs/capabilities/vector.upsert'],
      ['wallet.low_balance', '/docs/events/wallet.low_balance'],
    ] as const) {
      // It is there once the script is.
      await page.waitForSelector('.find');
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await page.waitForSelector('[role=option]');
      await expect.poll(() => page.getAttribute('[role=option][aria-selected=true]', 'data-to')).toBe(to);
      await expectSound(opened);
      await page.keyboard.press('Enter');
      await expect.poll(() => pathOf(opened)).toBe(to);
    }
    await page.waitForSelector('.find');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('queue');
    await page.waitForSelector('[role=option] >> nth=2');
    const chosen = () => page.getAttribute('[role=combobox]', 'aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    expect(await chosen()).toBe('result-1');
    await page.keyboard.press('ArrowUp');
    expect(await chosen()).toBe('result-0');
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await close(opened);
  });

  test('shows what is typed as text, loads its index once, and asks for nothing before', async () => {
    const opened = await open('/docs');
    const { page } = opened;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    expect(asked.filter((path) => path.includes('search'))).toEqual([]);
    for (const text of ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '.*\\', '\u0000 𝕏 \u202e']) {
      await page.click('.find');
      await page.fill('[role=combobox]', text);
      await expect.poll(() => page.textContent('[role=status]')).toMatch(/results$/);
      expect(await page.locator('dialog img, dialog script').count()).toBe(0);
      await page.keyboard.press('Escape');
    }
    expect(asked.filter((path) => path.includes('search'))).toEqual(['/docs/search.js', '/docs/search.json']);
    await close(opened);
  });
});

test('a language is chosen by the arrows, and holds on the next page', async () => {
  const opened = await open('/docs/guides/queues');
  const { page } = opened;
  await tabTo(page, '[role=tab][aria-selected=true]');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  expect(await page.textContent('[role=tab]:focus')).toBe('Python');
  expect(await page.textContent('.sample:not([hidden]) pre')).toContain('from quartermaster import Client');
  await page.goto(`${bench.service.url}/docs/capabilities/queue.publish`);
  expect(await page.textContent('.sample:not([hidden]) pre')).toContain('from quartermaster import Client');
  await close(opened);
});

test('a long page lists its sections: beside the text where there is room, folded above it on narrow screens', async () => {
  for (const [width, shown, hidden] of [
    [1_440, '.contents', '.folded'],
    [390, '.folded', '.contents'],
  ] as const) {
    const opened = await open('/docs/guides/queues', { viewport: { width, height: 900 } });
    const { page } = opened;
    expect([await page.locator(shown).isVisible(), await page.locator(hidden).isVisible()]).toEqual([true, false]);
    if (shown === '.folded') await page.click('.folded summary');
    await page.click(`${shown} a >> nth=2`);
    await expect.poll(() => pathOf(opened)).toBe('/docs/guides/queues#a-dead-letter-queue');
    expect(await page.locator(`${shown} a`).count()).toBe(await page.locator('main h2').count());
    await close(opened);
  }
});

test('code is copied by its button', async () => {
  const opened = await open('/docs', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = opened;
  await page.click('.copy >> nth=0');
  await expect.poll(() => page.textContent('.copy >> nth=0')).toBe('Copied');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.textContent('main pre >> nth=0'));
  await close(opened);
});

test('on a narrow screen the menu opens, and leads to a capability', async () => {
  const opened = await open('/docs', { viewport: { width: 390, height: 800 } });
  const { page } = opened;
  expect(await page.isVisible('#sidebar')).toBe(false);
  await press(page, '.menu');
  await expect.poll(() => page.isVisible('#sidebar')).toBe(true);
  await expectSound(opened);
  await page.click('#sidebar summary:has-text("queue")');
  await page.click('#sidebar a:text-is("publish")');
  await expect.poll(() => pathOf(opened)).toBe('/docs/capabilities/queue.publish');
  await close(opened);
});

test('without scripts every page is reached, and all languages stand there', async () => {
  const opened = await open('/docs', { javaScriptEnabled: false });
  const { page } = opened;
  expect(await page.isVisible('.find')).toBe(false);
  await page.click('#sidebar a:text-is("Queues")');
  expect(await page.locator('.sample >> visible=true').count()).toBe(3);
  await page.click('#sidebar summary:has-text("queue")');
  await page.click('#sidebar a:text-is("consume")');
  expect(await page.textContent('h1')).toBe('queue.consume');
  await page.context().close();
});

const sendIt = 'button:text-is("Send")';

test('"Try it" makes a call within the page of a capability, and shows its answer', async () => {
  const opened = await open('/docs', {}, bench.account.secret);
  const { page } = opened;
  for (const [name, status] of [
    ['tried-here', 200],
    ['NOT a name', 400],
  ] as const) {
    await page.goto(`${bench.service.url}/docs/capabilities/queue.create`);
    await page.waitForSelector('.find');
    await press(page, 'a.try');
    await page.fill('.trial [name=name]', name);
    await press(page, sendIt);
    await page.waitForSelector('.trial [aria-label=Call]');
    forgetStatus(opened.faults);
    expect(await page.textContent('[aria-label=Call] h2 >> nth=1')).toMatch(new RegExp(`^Answer: ${status}`));
    expect(await page.inputValue('.trial [name=name]')).toBe(name);
    expect(pathOf(opened)).toBe('/docs/capabilities/queue.create');
    await expectSound(opened);
  }
  expect((await bench.call('GET', '/v1/queue/get/tried-here')).status).toBe(200);
  await close(opened);
});

test('without a script "Try it" is a page of the console', async () => {
  const opened = await open('/docs', { javaScriptEnabled: false }, bench.account.secret);
  const { page } = opened;
  await page.goto(`${bench.service.url}/docs/capabilities/queue.create`);
  await page.click('a.try');
  expect(await page.textContent('h1')).toBe('Try queue.create');
  await page.fill('[name=name]', 'tried-there');
  await page.click(sendIt);
  expect(await page.textContent('pre[aria-label=Answer]')).toContain('"name": "tried-there"');
  await page.context().close();
});

test('"Try it" leads to the sign-in who is not signed in', async () => {
  const opened = await open('/docs/capabilities/queue.create');
  await opened.page.waitForSelector('.find');
  await opened.page.click('a.try');
  await expect.poll(() => new URL(opened.page.url()).pathname).toBe('/auth');
  await close(opened);
});
