// Mail that is not sent, in the operator's console: found, read, page by page, and seen to come by itself. All that stands in it is text.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { type NewMail, sendMail } from '../../src/people/mail/mail.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, narrowAndWide, openConsole, press, signedIn, tabTo } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import {
  client,
  createTestAccount,
  createTestOperator,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const PATH = '/console/operator/outbox';
const HOSTILE = '</pre></td><script>alert(1)</script><a href="https://evil.example">x</a>"\'&\u202e'.padEnd(300, 'w');
let service: TestService;
let chromium: TestBrowser;
let operator: TestAccount;
let hostileId: string;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  operator = await createTestOperator(service.core);
  await write({ to: HOSTILE, subject: HOSTILE, text: `${HOSTILE}\nhttps://evil.example`, html: HOSTILE }, 26);
  for (let n = 1; n <= 25; n += 1)
    await write({ to: `p${n}@example.org`, subject: `Mail ${n}.`, text: `text ${n}`, html: '' }, n);
  const list = await client(service.url, operator.secret)('GET', '/v1/operator/outbox/list?limit=1');
  hostileId = list.body.data.items[0].mail_id;
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

/** Mail of `n` ms later than now: ids stand in the order of their time. */
async function write(mail: NewMail, n: number): Promise<void> {
  await service.core.db.transaction(async (tx) => sendMail(tx, mail, (await clockNow(tx)) + n * 1_000));
}

async function byLink(): Promise<PageVisitor> {
  const { db } = service.core;
  const token = await db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  const visitor = new PageVisitor(service.url);
  expect((await visitor.post(`/auth/operator/${token}`, {})).status).toBe(303);
  return visitor;
}

test('is sound, filled, empty and failing, narrow and dark, wide and light', async () => {
  await expectSoundPages(
    chromium.browser,
    service.url,
    operator.secret,
    [
      ['operator/outbox', 'Mail'],
      ['operator/outbox?search=none', 'Mail'],
      ['operator/outbox?cursor=none', 'Mail'],
      [`operator/outbox/${hostileId}`, `${HOSTILE.slice(0, 200)}…`],
      ['operator/outbox/mail_1111111111111111111111', 'There is no such page'],
    ],
    narrowAndWide,
  );
});

test('by the link of the command line each mail stands on one page of the list, the newest first, and on its own', async () => {
  const visitor = await byLink();
  const first = await visitor.get(`${PATH}?search=example.org`);
  const list = await visitor.get(PATH);
  const [, older = ''] = /href="\.\/outbox(\?cursor=[^"]+)" rel="next"/.exec(list.text) ?? [];
  const second = await visitor.get(PATH + older);
  const shown = (text: string) => text.match(/Mail \d+\./g);
  const all = Array.from({ length: 25 }, (_, i) => `Mail ${25 - i}.`);
  expect(shown(first.text)).toEqual(all);
  expect(shown(`${list.text}${second.text}`)).toEqual(all);
  expect(second.text).not.toContain('rel="next"');
  const [, id = ''] = /href="\/console\/operator\/outbox\/(mail_\w+)"/.exec(second.text) ?? [];
  const mail = await visitor.get(`${PATH}/${id}`);
  expect([mail.status, mail.text.includes('text 1')]).toEqual([200, true]);
  expect(mail.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('by keyboard alone: found by a part of its address, opened, read, its source unfolded', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, operator.secret);
  await page.goto(service.url + PATH);
  await tabTo(page, 'input[type=search]');
  await page.keyboard.type('EVIL.example');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await press(page, 'tbody a');
  await expect.poll(() => page.textContent('pre[aria-label="Text"]')).toContain('https://evil.example');
  await press(page, '#source summary');
  expect(await page.textContent('pre[aria-label="HTML"]')).toBe(HOSTILE);
  expect(await page.locator('main a[href^="http"], main script').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a mail that comes shows by itself', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, operator.secret);
  await page.goto(`${service.url}${PATH}?search=late@`);
  expect(await page.textContent('.empty')).toContain('No mail matches');
  await write({ to: 'late@example.org', subject: 'Late', text: 'late', html: '' }, 0);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  expect(faults).toEqual([]);
});

test('what is no cursor is told, what is no mail is not there', async () => {
  const visitor = await byLink();
  for (const query of ['?cursor=x', `?search=${'x'.repeat(300)}`])
    expect((await visitor.get(PATH + query)).text, query).toContain('class="failure"');
  for (const id of ['mail_1111111111111111111111', 'x', '%00'])
    expect([id, (await visitor.get(`${PATH}/${id}`)).status]).toEqual([id, 404]);
});

test('nobody else is shown anything of it: not signed in, nor by a key for everything', async () => {
  const stranger = new PageVisitor(service.url);
  expect((await stranger.get(PATH)).location).toContain('/auth?return_to=');
  const { secret } = await createTestAccount(service.core);
  const visitor = await signedIn(service.url, secret);
  for (const path of [PATH, `${PATH}/${hostileId}`]) {
    const refused = await visitor.get(path);
    expect([refused.status, refused.text.includes('Mail 1')], path).toEqual([403, false]);
  }
});
