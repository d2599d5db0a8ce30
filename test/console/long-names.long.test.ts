// Names, addresses and ids as long as they may be, without a place to break them: on a telephone no page scrolls sideways, nor does a table in it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type ConsolePage, expectNarrow, openConsole } from '../support/console.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf, longNames } from '../support/filled-account.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';
import { type FilledAccount, filledAccount, otherViews } from './states/account.ts';
import { operatorStates } from './states/elsewhere.ts';
import { comeTo, type Scene, type State } from './states/state.ts';

const TELEPHONE = { width: 360, height: 800 };
/** The columns of a cohort table are what it tells: it keeps them, and scrolls. */
const WIDE_TABLES = `[...document.querySelectorAll('main .table')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
  .map((table) => table.getAttribute('aria-label'))`;

let service: TestService;
let chromium: TestBrowser;
let receiver: Receiver;
let scene: Scene;
let account: FilledAccount;
let opened: ConsolePage;
beforeAll(async () => {
  [service, chromium, receiver] = await Promise.all([
    // own service: the operator's pages show all of its accounts
    startTestService({ env: LOCAL_TARGETS }),
    startBrowser(),
    Receiver.start(),
  ]);
  const address = `${receiver.url('/hook')}?${'u'.repeat(1_000)}`;
  scene = { service, receiver: address, mark: 'W'.repeat(80), names: longNames };
  account = await filledAccount(scene);
  opened = await openConsole(chromium.browser, service.url, null, { viewport: TELEPHONE });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close(), receiver?.stop()]);
});

async function expectFits(state: State): Promise<void> {
  await comeTo(opened, service.url, state);
  await expectNarrow(opened.page);
  expect([state.name, await opened.page.evaluate(WIDE_TABLES)]).toEqual([state.name, []]);
}

const own = pages.filter(({ needs }) => !needs.id.startsWith('operator.'));

test('what does not break makes a page wider than its window', async () => {
  const { page } = opened;
  await page.goto(`${service.url}/auth`);
  await page.evaluate(`document.querySelector('h1').style.whiteSpace = 'nowrap'`);
  await page.evaluate(`document.querySelector('h1').textContent = 'W'.repeat(80)`);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(true);
});

test.each(own)('on the page $name', async (page) => {
  await expectFits({ name: page.name, path: addressOf(page, account.filled), by: account.owner });
});

test('in other views of pages, and on those of the operator', async () => {
  // A page that solves a captcha goes on to another one by itself.
  const views = otherViews(account).filter(({ name }) => name !== 'view-captcha-try');
  for (const state of [...views, ...(await operatorStates(scene))]) await expectFits(state);
});
