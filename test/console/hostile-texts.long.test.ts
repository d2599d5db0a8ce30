// What strangers write, in every text that a page shows and in every field that it has, also signed out, at devices and at payments: none of it
// runs, none is lost, and no page becomes wider than its window.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type ConsolePage, expectNarrow, forgetStatus, openConsole } from '../support/console.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf } from '../support/filled-account.ts';
import { client, startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';
import { type FilledAccount, filledAccount } from './states/account.ts';
import { deviceStates, operatorStates, payStates, signInStates } from './states/elsewhere.ts';
import { comeTo, type Scene } from './states/state.ts';

/** As a name, where little has room: an end of whatever it may stand in, a script, marks of direction, one sign of many code points. */
const MARK = `"'></style></title><script>alert(1)</script>\u202e\u2066👩‍👩‍👧`;
const WORD = 'W'.repeat(10_000);
/** As somebody types or pastes it. */
const TYPED = `javascript:alert(1)//"'></textarea></style><img src=/stolen onerror=alert(1)>\u202e👩‍👧 \\u0000 {{7*7}} ${'w'.repeat(300)}`;

let service: TestService;
let chromium: TestBrowser;
let receiver: Receiver;
let scene: Scene;
let account: FilledAccount;
let opened: ConsolePage;
beforeAll(async () => {
  [service, chromium, receiver] = await Promise.all([
    startTestService({ env: LOCAL_TARGETS }),
    startBrowser(),
    Receiver.start(),
  ]);
  scene = { service, receiver: receiver.url('/hook'), mark: MARK };
  account = await filledAccount(scene);
  await addLongTexts(account);
  opened = await openConsole(chromium.browser, service.url, null, { viewport: { width: 320, height: 700 } });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close(), receiver?.stop()]);
});

/** A word of 10 kB, or as long a one as there may be, in what holds texts. */
async function addLongTexts({ account: { secret }, filled }: FilledAccount): Promise<void> {
  const call = client(service.url, secret);
  const bodies: readonly (readonly [string, object])[] = [
    ['queue/publish', { queue: filled.queue, payload: { [WORD]: `${WORD}\u0001` } }],
    ['errors/capture', { title: WORD.slice(0, 200), message: WORD, tags: { long: WORD.slice(0, 200) } }],
    [
      'vector/upsert',
      {
        collection: filled.collection,
        vectors: [{ id: WORD.slice(0, 128), embedding: [1, 0, 0], metadata: { text: WORD } }],
      },
    ],
    [`errors/comment/${filled.group}`, { text: WORD }],
    [
      'cron/create',
      {
        name: WORD.slice(0, 100),
        task: `${receiver.url('/hook')}?${WORD.slice(0, 1_000)}`,
        cron_expr: '0 9 * * *',
        payload: { text: WORD },
      },
    ],
    ['account/keys/create', { name: WORD.slice(0, 60) }],
  ];
  for (const [path, body] of bodies) {
    const { status, text } = await call('POST', `/v1/${path}`, body);
    expect(status, `${path}: ${text.slice(0, 300)}`).toBe(200);
  }
}

/** The page is here, broke no policy, asked for nothing elsewhere, and fits. */
async function expectUnharmed({ page, faults }: ConsolePage): Promise<void> {
  await page.locator('h1').first().waitFor();
  await expectNarrow(page);
  forgetStatus(faults);
  expect(faults, page.url()).toEqual([]);
  expect(await page.locator('img[src*=stolen], main script').count(), page.url()).toBe(0);
}

test('a page that does not escape is seen to break the policy', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, null);
  await page.goto(`${service.url}/auth`);
  await page.evaluate(`document.querySelector('main').innerHTML = '<img src=/stolen onerror=alert(1)>'`);
  await expect.poll(() => faults.join()).toContain('violation of');
  await page.context().close();
});

const own = pages.filter(({ needs }) => !needs.id.startsWith('operator.'));

test.each(own)('in texts that the page $name shows', async (each) => {
  await comeTo(opened, service.url, { name: each.name, path: addressOf(each, account.filled), by: account.owner });
  await expectUnharmed(opened);
});

test('in texts that pages around the console and those of the operator show', async () => {
  const groups = await Promise.all([
    signInStates(scene, account),
    deviceStates(scene, account),
    payStates(scene, account),
    operatorStates(scene),
  ]);
  for (const state of groups.flat()) {
    await comeTo(opened, service.url, state);
    await expectUnharmed(opened);
  }
});

test('nothing of a hostile name is lost', async () => {
  for (const [path, selector] of [
    [`/console/keys/${account.filled.key}`, 'h1'],
    [`/console/errors/${account.filled.group}`, 'h1'],
    [`/console/schedules/${account.filled.schedule}`, 'h1'],
    ['/console/video', 'a.video'],
  ] as const) {
    await comeTo(opened, service.url, { name: path, path, by: account.owner });
    expect(await opened.page.locator(selector).first().textContent(), path).toContain(MARK);
  }
});

/** The forms that a page has fields in: their methods, and the names of what is typed. */
const FORMS = `[...document.querySelectorAll('main form')].map((form, index) => ({
  index,
  method: form.method,
  isOwn: form.method === 'post' && form.action.includes('/console'),
  names: [...form.querySelectorAll('input:not([type=hidden], [type=checkbox], [type=radio], [type=date], [type=datetime-local]), textarea')].map(({ name }) => name),
})).filter(({ names }) => names.length > 0)`;

interface FoundForm {
  readonly index: number;
  readonly method: 'get' | 'post';
  /** Sent to the console, which takes long texts; addresses and forms around it take little. */
  readonly isOwn: boolean;
  readonly names: readonly string[];
}

/** What stands in the fields of the page, but for secrets, which no page shows again. */
const STANDS = `[...document.querySelectorAll('main :is(input:not([type=hidden], [type=password], [type=checkbox], [type=radio], [type=date], [type=datetime-local]), textarea)')]
  .filter(({ value }) => value.startsWith('javascript:')).map(({ name }) => name)`;

/** A form with more fields would be longer than the console takes. */
const FIELDS_OF_LONG_TEXTS = 12;

/** Types the text into each field of the form and sends it, whatever the browser and the page's script think of it. */
async function type(page: Page, { index, isOwn, names }: FoundForm): Promise<number> {
  const text = isOwn && names.length < FIELDS_OF_LONG_TEXTS ? TYPED + WORD : TYPED;
  const fields = JSON.stringify(Object.fromEntries(names.map((name) => [name, text])));
  const [answer] = await Promise.all([
    page.waitForNavigation(),
    page.evaluate(`((fields) => {
      const form = document.querySelectorAll('main form')[${index}];
      for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
      form.submit();
    })(${fields})`),
  ]);
  return answer?.status() ?? 0;
}

const around = ['/auth', '/auth/code', '/auth/account', '/device', '/wallet/charge-limit'];

test('in every field of every page: what was refused is there to be mended', { timeout: 600_000 }, async () => {
  const { page } = opened;
  let [sent, refused] = [0, 0];
  const addresses = [...own.map((each) => addressOf(each, account.filled)), ...around];
  for (const path of addresses) {
    const by = path === '/auth' ? null : account.owner;
    const come = () => comeTo(opened, service.url, { name: path, path, by });
    await come();
    for (const form of (await page.evaluate(FORMS)) as FoundForm[]) {
      if (sent > 0) await come();
      const status = await type(page, form);
      sent += 1;
      await expectUnharmed(opened);
      if (form.method === 'get' || status < 400) continue;
      refused += 1;
      const typed = form.names.filter((name) => name !== 'key' && name !== 'code');
      expect([path, ...((await page.evaluate(STANDS)) as string[])]).toEqual(expect.arrayContaining([path, ...typed]));
    }
  }
  expect([sent, refused].every((count) => count > 15)).toBe(true);
});
