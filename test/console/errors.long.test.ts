// Error groups in the console: listed with what a day brought, searched, resolved and ignored, each leading to its own page.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSoundPages, openConsole, press, sendForm, signedIn, tabTo } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { client, createTestAccount, type TestAccount } from '../support/service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\u202e'.padEnd(150, 'w');
let bench: ConsoleBench;
let other: TestAccount;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  other = await createTestAccount(bench.service.core, 5);
  await capture({ message: 'disk full', level: 'fatal', user_id: 'u-1' }, 3);
  await capture({ message: HOSTILE, level: 'warning', release: HOSTILE.slice(0, 60) }, 1);
});
afterAll(() => bench?.stop());

async function capture(event: Readonly<Record<string, unknown>>, times: number): Promise<string> {
  let id = '';
  for (let i = 0; i < times; i += 1) {
    const { status, body } = await bench.call('POST', '/v1/errors/capture', event);
    expect(status, JSON.stringify(body)).toBe(200);
    id = body.data.error_group_id;
  }
  return id;
}

const group = async (id: string) => (await bench.call('GET', `/v1/errors/group_detail/${id}`)).body.data;

test('is sound, narrow and dark', async () => {
  await expectSoundPages(bench.chromium.browser, bench.service.url, bench.account.secret, [
    ['errors', 'Errors'],
    ['errors?status=all&sort=count_desc', 'Errors'],
    ['errors?status=resolved', 'Errors'],
    ['errors?q=disk', 'Errors'],
    ['errors?q=nothing+of+it', 'Errors'],
    ['errors?cursor=none', 'Errors'],
    ['errors?status=none', 'Errors'],
  ]);
  await expectSoundPages(bench.chromium.browser, bench.service.url, other.secret, [['errors', 'Errors']]);
});

test('the day stands in words beside its bars, the most frequent first when asked for', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const { text } = await visitor.get('/console/errors?sort=count_desc');
  expect(text).toContain('aria-label="3 events in 24 hours"');
  expect(text.indexOf('disk full')).toBeLessThan(text.indexOf('onerror'));
});

test('a word of an event finds it', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const { text } = await visitor.get('/console/errors?q=disk');
  expect([text.match(/disk full/g)?.length, text.includes('onerror')]).toEqual([3, false]);
});

test('two are resolved at once by keyboard alone, and one that comes again is marked', async () => {
  const [id, also] = [await capture({ message: 'timed out' }, 1), await capture({ message: 'refused' }, 1)];
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/errors?status=all`);
  const row = `tr:has(#group-${id})`;
  for (const each of [id, also]) {
    await tabTo(page, `#select-${each}`);
    await page.keyboard.press('Space');
  }
  await press(page, 'button[value=resolve]');
  await expect.poll(async () => [(await group(id)).is_resolved, (await group(also)).is_resolved]).toEqual([true, true]);
  await capture({ message: 'timed out' }, 1);
  await expect.poll(() => page.textContent(`${row} .badge.critical:has-text("regressed")`)).toBe('regressed');
  await press(page, `${row} a`);
  await expect.poll(() => page.textContent('h1')).toContain('timed out');
  expect(faults).toEqual([]);
});

test('one is ignored without scripts, and a group of another account cannot be', async () => {
  const id = await capture({ message: 'known and harmless' }, 1);
  const [visitor, stranger] = await Promise.all(
    [bench.account, other].map(({ secret }) => signedIn(bench.service.url, secret)),
  );
  if (visitor === undefined || stranger === undefined) throw new Error('nobody signed in');
  expect((await sendForm(visitor, '/console/errors', 'ignore', { id })).status).toBe(303);
  expect((await group(id)).is_ignored).toBe(true);
  expect((await sendForm(visitor, '/console/errors', 'ignore')).text).toContain('Select at least one error.');
  await client(bench.service.url, other.secret)('POST', '/v1/errors/capture', { message: 'mine' });
  const refused = await sendForm(stranger, '/console/errors', 'resolve', { id });
  expect([refused.status, (await group(id)).is_ignored]).toEqual([404, true]);
});
