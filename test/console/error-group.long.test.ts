// The page of one error group: what group_detail and its events answer, and what is done about it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from '../errors/harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, narrowAndWide, openConsole, press, sendForm, signedIn, tabTo } from '../support/console.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
import { allowedMs } from '../support/slowness.ts';

let bench: ErrorsBench;
let chromium: TestBrowser;
let visitor: PageVisitor;
beforeAll(async () => {
  [bench, chromium] = await Promise.all([ErrorsBench.start(), startBrowser()]);
  visitor = await signedIn(bench.service.url, bench.account.secret);
});
afterAll(async () => {
  await Promise.all([bench?.service.stop(), chromium?.close()]);
});

async function pageOf(groupId: string, query = ''): Promise<string> {
  const { status, text } = await visitor.get(`/console/errors/${groupId}${query}`);
  expect(status, text).toBe(200);
  return text;
}

/** The text of a page as a reader sees it, on one line. */
function readable(page: string): string {
  const main = /<main[\s\S]*<footer/.exec(page)?.[0] ?? '';
  return main.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

const frame = (func: string, inApp: boolean) => ({
  func,
  file: `${func}.ts`,
  line: 12,
  col: 3,
  in_app: inApp,
  context_pre: ['line ten', 'line eleven'],
  context_line: 'line twelve',
  context_post: ['line thirteen'],
  vars: { n: 1 },
});

const checkout = {
  fingerprint: 'shown',
  title: 'Checkout failed',
  message: 'no such price',
  level: 'fatal',
  environment: 'production',
  tags: { region: 'eu' },
  exception: {
    type: 'PriceError',
    value: 'price of A-17',
    stacktrace: [frame('ours', true), frame('theirs', false)],
  },
  breadcrumbs: [{ at: '2026-01-02T03:04:05Z', category: 'http', message: 'GET /cart', data: { status: 200 } }],
  request: { method: 'GET', url: 'https://shop.example.org/cart' },
  context: { memory_mb: 412 },
};

test('counts, state, stack, surroundings, comments and activity are on it', async () => {
  await bench.capture({ ...checkout, user_id: 'u-1', release: '1.0' });
  await bench.capture({ ...checkout, user_id: 'u-1', release: '1.1' });
  const { error_group_id: groupId } = await bench.capture({ ...checkout, user_id: 'u-2', release: '1.1' });
  await bench.change('comment', groupId, { text: 'first line\nsecond line' });
  await bench.change('assign', groupId, { assigned_to: 'price-agent' });
  await bench.change('resolve', groupId);

  const page = await pageOf(groupId);
  const text = readable(page);
  for (const part of [
    'fatal resolved Reopen Ignore',
    'Events 3 Users 2 Last 24 hours 3 24 hours before 0',
    'Assigned to price-agent',
    'PriceError price of A-17',
    'ours ours.ts:12:3 app',
    '10 line ten 11 line eleven 12 line twelve 13 line thirteen',
    'Local variables { &quot;n&quot;: 1 }',
    '2026-01-02 03:04:05 UTC http GET /cart Data { &quot;status&quot;: 200 }',
    'Message no such price',
    'region:eu 3 100 %',
    '1.1 2 67 %',
    'u-1 2 67 % u-2 1 33 %',
    'production 3 100 %',
    '&quot;url&quot;: &quot;https://shop.example.org/cart&quot;',
    '&quot;memory_mb&quot;: 412',
    'first line second line',
    'Resolved',
    'Assigned to price-agent',
    'Commented',
  ])
    expect(text).toContain(part);
  expect(text).toMatch(/First seen (now|\d+ s ago) /);
  expect(page.match(/<rect class="(bar|none)" x="/g)).toHaveLength(24);
  expect(page.match(/<details class="frame" open>/g)).toHaveLength(1);
  expect(page.match(/<details class="frame">/g)).toHaveLength(1);
});

test('is sound filled, bare, long and past retention, narrow and dark, wide and light', async () => {
  const own = await bench.withAccount();
  const full = await own.capture({ ...checkout, user_id: 'u-1', release: '1.0' });
  await own.change('comment', full.error_group_id, { text: 'The price list was late. Look at its job first.' });
  await own.change('assign', full.error_group_id, { assigned_to: 'price-agent' });
  const bare = await own.capture({ message: 'only this' });
  const long = await own.capture({ message: `${'w'.repeat(300)}\n<b>"`, level: 'warning' });
  const at = (id: string) => `errors/${id}`;
  await expectSoundPages(
    chromium.browser,
    own.service.url,
    own.account.secret,
    [
      [at(full.error_group_id), 'PriceError: Checkout failed'],
      [at(bare.error_group_id), 'only this'],
      [at(long.error_group_id), (await own.detail(long.error_group_id)).title],
      [`${at(bare.error_group_id)}?events=none`, 'only this'],
      [at('errgrp_0000000000000000000000'), 'There is no such page'],
    ],
    narrowAndWide,
  );
});

test('a group of a single text has a page, and a stack that was sent as text', async () => {
  const plain = await bench.capture({ message: 'only this' });
  const text = readable(await pageOf(plain.error_group_id));
  expect(text).toContain('only this error open Resolve Ignore');
  expect(text).toContain('Assigned to nobody');
  expect(text).not.toMatch(/Exception|Breadcrumbs|Message only/);
  const stack = 'Traceback (most recent call last):\n  File "job.py", line 3';
  const sent = await bench.capture({
    message: 'with a stack',
    exception: { type: 'E', value: 'v', stacktrace: stack },
  });
  expect(readable(await pageOf(sent.error_group_id))).toContain(
    'Stack trace Traceback (most recent call last): File &quot;job.py&quot;, line 3',
  );
});

test('its events are listed page by page, each is shown in full, one after the other, and downloaded whole', async () => {
  const own = await bench.withAccount();
  const extra = { log: 'y'.repeat(30_000) };
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1)
    ids.push((await own.capture({ fingerprint: 'listed', message: `attempt number ${n}.`, extra })).event_id);
  const { error_group_id: groupId } = await own.get(ids[0] ?? '');
  const { page, faults } = await openConsole(chromium.browser, own.service.url, own.account.secret);
  await page.goto(`${own.service.url}/console/errors/${groupId}`);
  const main = () => page.textContent('main');
  await expect.poll(main).toContain('attempt number 11.');
  await press(page, 'a[rel=prev]');
  await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe(ids[10]);
  expect(await page.textContent('[aria-current=true][href*=event]')).toBe(
    await page.textContent('tr:nth-child(2) th a'),
  );
  await press(page, 'a[rel=next]:has-text("Next page")');
  await expect.poll(() => page.locator('.rows tbody tr').count()).toBe(2);
  // The event of the page before is still the one that is shown.
  expect(new URL(page.url()).searchParams.get('event')).toBe(ids[10]);
  await press(page, '.rows tbody tr:last-child a');
  await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe(ids[0]);
  expect(await main()).toContain('attempt number 0.');
  expect(await page.locator('a[rel=prev]').count()).toBe(0);
  const begun = page.waitForEvent('download');
  await press(page, 'a:has-text("Download the event")');
  expect((await begun).suggestedFilename()).toBe('error.jsonl');
  expect(faults).toEqual([]);
  await page.context().close();
  const file = await (await signedIn(own.service.url, own.account.secret)).get(
    `/console/errors/${groupId}?event=${ids[3]}&as=jsonl`,
  );
  expect(JSON.parse(file.text)).toEqual(await own.get(ids[3] ?? ''));
});

test('by keyboard alone it is assigned, commented, resolved, and seen to come again without a reload', async () => {
  const { error_group_id: groupId } = await bench.capture({ message: 'timed out' });
  const { page, faults } = await openConsole(chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/errors/${groupId}`);
  await tabTo(page, '#assign-assigned_to');
  await page.keyboard.type('night-agent');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.textContent('.done')).toContain('Assignment saved');
  await tabTo(page, '#comment-text');
  await page.keyboard.type('The disk was swapped.');
  await press(page, 'button:has-text("Comment")');
  await expect.poll(() => page.textContent('li.card')).toContain('The disk was swapped.');
  await press(page, 'button:has-text("Resolve")');
  await expect.poll(() => page.locator('.badge:has-text("resolved")').count()).toBe(1);
  const detail = await bench.detail(groupId);
  expect([detail.assigned_to, detail.comments[0].text, detail.is_resolved]).toEqual([
    'night-agent',
    'The disk was swapped.',
    true,
  ]);
  await bench.capture({ message: 'timed out' });
  await expect.poll(() => page.textContent('main')).toContain('Reopened by the event');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('without scripts: ignored and looked at again; what is refused says why at its field and keeps what was typed', async () => {
  const { error_group_id: groupId } = await bench.capture({ message: 'known' });
  const path = `/console/errors/${groupId}`;
  expect((await sendForm(visitor, path, 'ignore')).status).toBe(303);
  expect((await bench.detail(groupId)).is_ignored).toBe(true);
  expect((await sendForm(visitor, path, 'unignore')).status).toBe(303);
  const refused = await sendForm(visitor, path, 'assign', { assigned_to: 'n'.repeat(300) });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/id="assign-assigned_to"[^>]*aria-invalid="true"[^>]*value="n{300}"/);
  const { is_ignored, assigned_to } = await bench.detail(groupId);
  expect([is_ignored, assigned_to]).toEqual([false, null]);
});

test('a key that may only read sees the group and no form that changes it', async () => {
  const { error_group_id: groupId } = await bench.capture({ message: 'read only' });
  const { key_secret: secret } = await bench.ok('POST', '/v1/account/keys/create', { scopes: ['errors:read'] });
  const reader = await signedIn(bench.service.url, secret);
  const { text } = await reader.get(`/console/errors/${groupId}`);
  expect(text).toContain('read only');
  expect(text).not.toContain('name="act" value="resolve"');
  const fields = { form_token: await reader.formToken('/console'), form_key: '0'.repeat(32), act: 'resolve' };
  expect((await reader.post(`/console/errors/${groupId}`, fields)).status).toBe(403);
  expect((await bench.detail(groupId)).is_resolved).toBe(false);
});

test('groups and events of others, of another group, and those that never were answer the same page', async () => {
  const other = await bench.withAccount();
  const foreign = await other.capture({ message: 'of somebody else' });
  const [own, elsewhere] = await Promise.all([bench.capture({ message: 'own' }), bench.capture({ message: 'beside' })]);
  const main = (text: string) => /<main[\s\S]*?<footer/.exec(text)?.[0];
  const none = 'errgrp_0000000000000000000000';
  const groups = [none, foreign.error_group_id, `${own.error_group_id}0`, 'x', '%00', '..%2F..', "'%22%3E%3Cscript%3E"];
  const events = [foreign.event_id, elsewhere.event_id, 'err_0000000000000000000000', 'x', '%00'];
  const addresses = [...groups, ...events.map((id) => `${own.error_group_id}?event=${id}`)];
  const [first, ...rest] = await Promise.all(addresses.map((address) => visitor.get(`/console/errors/${address}`)));
  expect([first?.status, main(first?.text ?? '')?.includes('There is no such page')]).toEqual([404, true]);
  for (const { status, text } of rest) expect([status, main(text)]).toEqual([404, main(first?.text ?? '')]);
  const file = await visitor.get(`/console/errors/${own.error_group_id}?as=jsonl&event=${foreign.event_id}`);
  expect([file.status, file.text.includes('somebody')]).toEqual([404, false]);
});

test('an event as large as one may be makes a page of a bounded size in little time', async () => {
  const vars = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`v${i}`, '<&"'.repeat(20)]));
  const stacktrace = Array.from({ length: 220 }, (_, i) => ({ ...frame(`f${i}`, i % 2 === 0), vars }));
  const { error_group_id: groupId } = await bench.capture({
    message: '<'.repeat(100_000),
    exception: { type: 'E', value: 'v', stacktrace },
  });
  const startedMs = performance.now();
  const page = await pageOf(groupId);
  expect(performance.now() - startedMs).toBeLessThan(allowedMs(2_000));
  expect(page.length).toBeLessThan(8 * 1024 * 1024);
  expect(page).toContain('90,000 more characters');
});

test('a group whose events are past retention keeps its page', async () => {
  const { error_group_id: groupId } = await bench.capture({ message: 'long ago', user_id: 'u-9' });
  await bench.service.advance(95 * 86_400);
  visitor = await signedIn(bench.service.url, bench.account.secret);
  const text = readable(await pageOf(groupId));
  expect(text).toContain('long ago');
  expect(text).toContain('95 days ago');
  expect(text).toContain('Its events are past retention; the counts stay.');
  expect(text).toContain('u-9 1 100 %');
});
