// Plots in Chromium: drawn from the table below them, in buckets that are whole and go on with the hours; dragging shows those hours or days.
import type { Page } from 'playwright-core';
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
import { untilTimeOfDay } from '../support/time-of-day.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let call: Client;
/** The day of the first calls, which is over. */
let day: string;

const publish = () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
const dateOf = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 10);

beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
  call = client(service.url, account.secret);
  // No hour ends under the tests, and what is called now is of the last bucket of its day.
  day = dateOf((await untilTimeOfDay(service, 23 * HOUR_SECONDS + 300)) / 1_000);
  // Ten capabilities of which one costs money: once, twice, three times...
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const reads = ['balance', 'tier', 'ledger/list', 'keys/list', 'events/list', 'usage', 'topup/list', 'webhooks/list'];
  for (const [i, read] of reads.entries())
    for (let n = 0; n < i + 2; n += 1) expect((await call('GET', `/v1/account/${read}`)).status, read).toBe(200);
  for (let n = 0; n < 20; n += 1) await publish();
  // Calls are counted a moment after they were answered.
  await service.core.usage.flush();
  await service.advance(3 * DAY_SECONDS);
  // A plot of the week spans the days between the first calls and this one.
  await publish();
  await service.core.usage.flush();
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

const show = (page: Page, query: string) => page.goto(`${service.url}/console/usage?${query}`);

/** Presses at `from`, drags to `to` and lets go: shares of the plot's width. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const { x = 0, y = 0, width = 0, height = 0 } = (await page.locator('.u-over').boundingBox()) ?? {};
  await page.mouse.move(x + width * from, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * ((from + to) / 2), y + height / 2);
  await page.mouse.move(x + width * to, y + height / 2);
  await page.mouse.up();
}

/** Where on the plot an instant is, as a share of its width; the starts of its buckets, in seconds. */
async function placesOf(page: Page) {
  const times = await page
    .locator('figure.plot details tbody time')
    .evaluateAll((all) => all.map((time) => Date.parse(time.getAttribute('datetime') ?? '') / 1_000));
  const [first = 0, second = first + HOUR_SECONDS] = times;
  return { times, shareOf: (seconds: number) => (seconds - first) / ((second - first) * times.length) };
}

test('dragging over a plot shows the hours, and over one by the day the days that were dragged over', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await show(page, 'period=7d&figure=calls&by=key&cursor=old&step=hour');
  const hours = await placesOf(page);
  // From just before the first calls: four days before there was nothing.
  expect(hours.times.length).toBeLessThan(4 * 24);
  const start = Date.parse(`${day}T20:00Z`) / 1_000;
  const end = start + 40 * HOUR_SECONDS;
  await drag(page, hours.shareOf(start + HOUR_SECONDS / 2), hours.shareOf(end - HOUR_SECONDS / 2));
  const instant = (seconds: number) => `${new Date(seconds * 1_000).toISOString().slice(0, 16)}Z`;
  const asked = () => Object.fromEntries(new URL(page.url()).searchParams);
  const kept = { period: 'custom', figure: 'calls', by: 'key' };
  await expect.poll(asked).toEqual({ ...kept, from: instant(start), to: instant(end) });
  await page.waitForLoadState('load');
  expect((await placesOf(page)).times).toHaveLength(24);
  await show(page, 'period=30d&figure=calls&by=key&step=day');
  const { times, shareOf } = await placesOf(page);
  const [first = 0, last = 0] = [times[3], times[5]];
  await drag(page, shareOf(first + 6 * HOUR_SECONDS), shareOf(last + 20 * HOUR_SECONDS));
  await expect.poll(asked).toEqual({ ...kept, from: dateOf(first), to: dateOf(last) });
  await page.waitForLoadState('load');
  expect(await page.inputValue('.period input[name=to]')).toBe(dateOf(last));
  expect(faults).toEqual([]);
  await page.context().close();
});

test('within a day hours are dragged over: table, fields and file are of these hours', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await show(page, `period=custom&from=${day}&to=${day}&figure=calls`);
  await drag(page, 20.5 / 24, 23.5 / 24);
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe(`${day}T20:00Z`);
  await page.waitForLoadState('load');
  const { times } = await placesOf(page);
  expect(times.map((seconds) => new Date(seconds * 1_000).toISOString())).toEqual(
    [20, 21, 22, 23].map((hour) => `${day}T${hour}:00:00.000Z`),
  );
  expect(await page.inputValue('.period input[name=from]')).toBe(`${day}T20:00`);
  const file = (query: string) => page.request.get(`${service.url}/console/usage?as=csv&${query}`);
  const rows = async (query: string) => (await (await file(query)).text()).split('\r\n');
  expect(await rows(new URL(page.url()).search.slice(1))).toContain('queue.publish,20,20,0.0004,0');
  const before = await rows(`period=custom&from=${day}T20:00Z&to=${day}T23:00Z`);
  expect(before.filter((row) => row.startsWith('queue.publish'))).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('dragging leads nowhere where no less would be shown', async () => {
  const { page } = await openConsole(chromium.browser, service.url, account.secret);
  await publish();
  for (const [query, from, to] of [
    ['period=24h', 0.001, 0.999],
    ['period=24h', 0.5, 0.502],
    ['period=1h', 0.3, 0.6],
  ] as const) {
    await show(page, query);
    const before = page.url();
    await drag(page, from, to);
    await page.evaluate('fetch(location.href)');
    expect(page.url()).toBe(before);
    expect((await page.locator('.u-select').boundingBox())?.width ?? 0).toBe(0);
  }
  await page.context().close();
});

/** How often the color changes from the top to the bottom of a bucket's bar. */
function changesIn(page: Page, bucket: number, buckets: number): Promise<unknown> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('.drawn canvas');
    const [all, plot] = [canvas, document.querySelector('.u-over')].map((each) => each.getBoundingClientRect());
    const scale = canvas.width / all.width;
    const wide = plot.width / ${buckets};
    const x = (plot.left - all.left + ${bucket} * wide + Math.min(0.4 * wide, 30)) * scale;
    const height = Math.floor(plot.height * scale);
    const { data } = canvas.getContext('2d').getImageData(Math.floor(x), Math.floor((plot.top - all.top) * scale), 1, height);
    let changes = 0;
    for (let i = 4; i < data.length; i += 4)
      if ([0, 1, 2, 3].some((c) => Math.abs(data[i + c] - data[i + c - 4]) > 60)) changes += 1;
    return changes;
  })()`);
}

test('the bucket that still runs is hatched, also where it is the only one; one that is over is not', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await publish();
  await show(page, 'period=1h');
  await expect.poll(() => page.locator('figure.plot details tbody tr').count()).toBe(1);
  expect(await changesIn(page, 0, 1)).toBeGreaterThan(20);
  await show(page, `period=custom&from=${day}&to=${day}`);
  const cells = page.locator('figure.plot details tbody td');
  const values = await cells.evaluateAll((all) => all.map((cell) => Number(cell.getAttribute('data-value'))));
  expect(values).toHaveLength(24);
  expect(values[23]).toBeGreaterThan(0);
  // Its top, and its foot.
  const changes = await changesIn(page, 23, 24);
  expect(changes).toBeGreaterThan(0);
  expect(changes).toBeLessThan(8);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a page that stays open over the hour draws the new one, and tells its figure as the table does', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await publish();
  await page.goto(`${service.url}/console?period=24h`);
  const rows = page.locator('figure.plot details tbody tr');
  const last = () => rows.last().locator('time').getAttribute('datetime');
  const before = await last();
  await service.advance(HOUR_SECONDS);
  await publish();
  expect((await call('POST', '/v1/ai/embed', { input: 'cheap' })).status).toBe(200);
  await expect.poll(last).not.toBe(before);
  await expect.poll(() => rows.last().locator('td').count()).toBe(2);
  const over = page.locator('.u-over').first();
  const { width = 0, height = 0 } = (await over.boundingBox()) ?? {};
  await over.hover({ position: { x: width - 2, y: height / 2 } });
  const told = page.locator('.tip b');
  const hour = new Date((await last()) ?? '').toISOString().slice(0, 16).replace('T', ' ');
  await expect.poll(() => page.locator('.tip strong').textContent()).toBe(`${hour} UTC`);
  const cells = await rows.last().locator('td').allTextContents();
  // Less than a millionth of a dollar.
  expect(cells.at(-1)).toMatch(/^0\.000000\d+$/);
  expect(await told.allTextContents()).toEqual(cells.map((cell) => `$${cell}`));
  expect(await changesIn(page, 23, 24)).toBeGreaterThan(20);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the largest eight are told apart, and what is beyond is one more', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await show(page, `period=custom&from=${day}&to=${day}&figure=calls`);
  const { by_capability: sums } = (
    await call(
      'GET',
      `/v1/account/usage?from=${day}T00:00:00Z&to=${dateOf(Date.parse(day) / 1_000 + DAY_SECONDS)}T00:00:00Z`,
    )
  ).body.data as { by_capability: { capability: string; count: number }[] };
  const largest = sums.toSorted((a, b) => b.count - a.count);
  expect(largest).toHaveLength(10);
  const heads = await page.locator('figure.plot details thead th').allTextContents();
  expect(heads.slice(1)).toHaveLength(9);
  expect(heads.at(-1)).toBe('other (2)');
  expect(heads[1]).toBe(largest[0]?.capability);
  const rows = page.locator('figure.plot details tbody tr');
  const sumOf = async (series: number) => {
    const cells = await rows.locator(`td:nth-of-type(${series})`).allTextContents();
    return cells.reduce((sum, text) => sum + Number(text), 0);
  };
  expect(await sumOf(1)).toBe(largest[0]?.count);
  expect(await sumOf(9)).toBe((largest[8]?.count ?? 0) + (largest[9]?.count ?? 0));
  const drawn = await page.locator('.drawn .u-legend .u-label').allTextContents();
  expect(drawn).toEqual(heads.slice(1).toReversed());
  expect(faults).toEqual([]);
  await page.context().close();
});
