// Times in the console: a period of hours is asked for by clocks of the reader's zone, which a browser offers to who has not said it; what a
// form did is not told again by the way back.
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole, signedIn } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
/** Yesterday, UTC. */
let day: string;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
  const { body } = await client(service.url, account.secret)('GET', '/v1/account/balance');
  day = new Date(Date.parse(body.metadata.timestamp) - 86_400_000).toISOString().slice(0, 10);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

async function open(path: string, options: BrowserContextOptions) {
  const opened = await openConsole(chromium.browser, service.url, account.secret, options);
  await opened.page.goto(`${service.url}/console/${path}`);
  return opened;
}

/** What a page shows of a period: the fields of another one, and the calls at its foot. */
async function shownOf(query: string, cookie = '') {
  const visitor = await signedIn(service.url, account.secret);
  if (cookie !== '') visitor.cookies.set('qm_console', cookie);
  const { text } = await visitor.get(`/console/events?${query}`);
  const fields = [...text.matchAll(/<input type="(date[\w-]*)" name="(?:from|to)" value="([^"]*)"/g)].map((found) =>
    found.slice(1),
  );
  const [, from, to] = /from=([\w%:.-]+?)&amp;to=([\w%:.-]+?)(?:&|')/.exec(text) ?? [];
  return { fields, asked: [from, to].map((instant) => decodeURIComponent(instant ?? '')) };
}

test.each([
  ['UTC', '', '06:00', '09:00', 'T06:00', 'T09:00'],
  ['a zone of half hours', 'system~Asia/Kolkata~on', '06:00', '09:00', 'T11:30', 'T14:30'],
] as const)(
  'hours of %s are those of the clocks there, told with Z or without',
  async (_, cookie, from, to, ...local) => {
    const instants = [`${day}T${from}:00.000Z`, `${day}T${to}:00.000Z`];
    const [first, last] = local.map((time) => `${day}${time}`);
    const byInstant = await shownOf(`period=custom&from=${day}T${from}Z&to=${day}T${to}Z`, cookie);
    expect(byInstant).toEqual({
      asked: instants,
      fields: [
        ['datetime-local', first],
        ['datetime-local', last],
      ],
    });
    expect(await shownOf(`period=custom&from=${first}&to=${last}`, cookie)).toEqual(byInstant);
  },
);

test('parts of hours are of the period; days are UTC in any zone; what is no time is the usual period', async () => {
  const cookie = 'system~Asia/Kolkata~on';
  const { asked } = await shownOf(`period=custom&from=${day}T06:10Z&to=${day}T06:20Z`);
  expect(asked).toEqual([`${day}T06:00:00.000Z`, `${day}T07:00:00.000Z`]);
  const days = await shownOf(`period=custom&from=${day}&to=${day}`, cookie);
  expect(days.asked[0]).toBe(`${day}T00:00:00.000Z`);
  expect(days.fields).toEqual([
    ['date', day],
    ['date', day],
  ]);
  const usual = await shownOf('period=30d');
  for (const to of [`${day}T06:00Z`, `${day}T05:00Z`, `${day}T99:00Z`, 'T', `${day}T07:00+02:00`])
    expect((await shownOf(`period=custom&from=${day}T06:00Z&to=${encodeURIComponent(to)}`)).asked, to).toEqual(
      usual.asked,
    );
});

test('a browser offers its zone to who has not said one, and takes the answer for good', async () => {
  const { page, faults } = await open(`keys/${account.keyId}`, { timezoneId: 'Europe/Berlin' });
  expect(await page.locator('main time').first().textContent()).toContain('UTC');
  await page.click('.who');
  await page.click('text=Use Europe/Berlin');
  await page.waitForSelector('main time:has-text("GMT+")');
  expect(new URL(page.url()).pathname).toBe(`/console/keys/${account.keyId}`);
  expect(await page.locator('[data-own-zone]').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([{ timezoneId: 'UTC' }, { timezoneId: 'Europe/Berlin', javaScriptEnabled: false }])(
  'nothing is offered to %j, and times are UTC',
  async (options) => {
    const { page } = await open(`keys/${account.keyId}`, options);
    expect(await page.locator('main time:has-text("UTC")').count()).toBeGreaterThan(0);
    await page.click('.who');
    expect(await page.locator('[data-own-zone]').isVisible()).toBe(false);
    await page.context().close();
  },
);

test('choosing how the console looks leads back to the page, and tells no more what a form did there', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const way = async (path: string) =>
    /name="return_to" value="([^"]+)"/.exec((await visitor.get(path)).text)?.[1]?.replaceAll('&amp;', '&');
  expect((await visitor.get('/console/keys?done=keys.create')).text).toContain('Key created.');
  expect(await way('/console/keys?done=keys.create')).toBe('/console/keys');
  expect(await way('/console/keys?status=active&done=keys.create')).toBe('/console/keys?status=active');
  expect(await way('/console/keys?status=active')).toBe('/console/keys?status=active');
});
