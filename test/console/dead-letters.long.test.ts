// Dead letters in the console: a queue whose worker fails is browsed, and its messages go back, one, some or all, at once or at a rate.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSoundPages, narrowAndWide, openConsole, press, sendForm, signedIn, tabTo } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\u202e'.padEnd(150, 'w');
let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

async function ok(method: string, path: string, body?: unknown) {
  const reply = await bench.call(method, path, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data;
}

/** A queue that gave up `messages` messages {n}: each was delivered twice and nacked with the reason. Answers their ids. */
async function failing(queue: string, messages: number, reason = 'The worker failed.'): Promise<string[]> {
  await ok('POST', '/v1/queue/create', { name: `${queue}-dead` });
  await ok('POST', '/v1/queue/create', { name: queue, dead_letter_queue: `${queue}-dead`, max_retries: 2 });
  if (messages === 0) return [];
  const sent = Array.from({ length: messages }, (_, n) => ({ payload: { n } }));
  const { items } = await ok('POST', '/v1/queue/batch/publish', { queue, items: sent });
  while ((await stats(queue)).dlq_count < messages) {
    const taken = await ok('POST', '/v1/queue/consume', { queue, max_messages: 10 });
    const receipts = taken.items.map((item: { receipt_handle: string }) => item.receipt_handle);
    await ok('POST', '/v1/queue/nack', { queue, receipts, reason });
  }
  return items.map((item: { message_id: string }) => item.message_id);
}

const stats = (queue: string) => ok('GET', `/v1/queue/stats/${queue}`);
const redrive = (queue: string, fields: object) => ok('POST', `/v1/queue/dlq/redrive/${queue}`, fields);

/** The dead letters of the queue; null: the first page. */
async function open(queue: string | null) {
  const opened = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  if (queue !== null) await opened.page.goto(`${bench.service.url}/console/queues/${queue}/dlq`);
  await opened.page.evaluate('window.isSame = true');
  return opened;
}

const rowsOf = (page: Page) => page.locator('form tbody tr').count();

test('is sound filled, empty, failing and while a redrive is under way, narrow and dark, wide and light', async () => {
  await failing('sound', 3, HOSTILE);
  const long = { queue: 'sound', payload: { task: HOSTILE }, headers: { [HOSTILE]: HOSTILE } };
  await ok('POST', '/v1/queue/publish', long);
  for (let taken = 0; taken < 2; taken += 1) {
    const { items } = await ok('POST', '/v1/queue/consume', { queue: 'sound' });
    await ok('POST', '/v1/queue/nack', { queue: 'sound', receipt_handle: items[0].receipt_handle });
  }
  await ok('POST', '/v1/queue/create', { name: 'without' });
  await failing('moving', 100);
  await redrive('moving', { max_messages: 1 });
  await redrive('moving', { rate_per_second: 1, max_messages: 1_000 });
  await redrive('sound', { message_ids: ['qmsg_11111111111111111111'] });
  await expectSoundPages(
    bench.chromium.browser,
    bench.service.url,
    bench.account.secret,
    [
      ['queues/sound/dlq', 'sound'],
      ['queues/sound/dlq?cursor=none', 'sound'],
      ['queues/moving/dlq', 'moving'],
      ['queues/without/dlq', 'without'],
      ['queues/sound-dead', 'sound-dead'],
      ['queues', 'Queues'],
    ],
    narrowAndWide,
  );
});

test('the overview leads to dead letters; they are browsed, all go back, and the page is empty without a reload', async () => {
  const ids = await failing('broken', 3);
  const { page, faults } = await open(null);
  await page.click('.failing a:has-text("broken")');
  await expect.poll(() => page.textContent('h1')).toBe('broken');
  const first = page.locator('form tbody tr').first();
  expect(await first.locator('th code').textContent()).toBe(ids[0]);
  expect((await first.locator('td').allTextContents()).slice(0, 2)).toEqual(['{"n":0}', 'The worker failed.']);
  expect(await first.locator('[data-title="Deliveries"]').textContent()).toBe('2');
  await page.fill('#redrive_all-rate_per_second', '1');
  await page.click('button:has-text("Redrive all 3")');
  await expect.poll(() => page.textContent('main')).toContain('Redrive in progress');
  await page.evaluate('window.isSame = true');
  await expect.poll(() => rowsOf(page)).toBeLessThan(3);
  await expect.poll(() => rowsOf(page)).toBe(0);
  await expect.poll(() => page.textContent('#dead')).toBe('0 dead letters');
  await expect.poll(() => page.textContent('main')).not.toContain('Redrive in progress');
  expect(await page.evaluate('window.isSame')).toBe(true);
  expect(await stats('broken')).toMatchObject({ available_count: 3, dlq_count: 0 });
  expect(faults).toEqual([]);
});

test('by keyboard alone: one goes back, then those chosen, then all, seen without a reload', async () => {
  const ids = await failing('typed', 6);
  const { page, faults } = await open(null);
  await press(page, 'nav a:has-text("Queues")');
  await expect.poll(() => page.textContent('h1')).toBe('Queues');
  await press(page, 'tr:has(#queue-typed) a[href$="/dlq"]');
  await expect.poll(() => page.textContent('h1')).toBe('typed');
  await press(page, `#redrive-${ids[4]}`);
  await expect.poll(() => page.textContent('#dead')).toBe('5 dead letters');
  await press(page, `#choose-${ids[1]}`, 'Space');
  await press(page, `#choose-${ids[2]}`, 'Space');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.textContent('#dead')).toBe('3 dead letters');
  const left = await ok('GET', '/v1/queue/dlq/list/typed');
  expect(left.items.map((item: { message_id: string }) => item.message_id)).toEqual([ids[0], ids[3], ids[5]]);
  await tabTo(page, '#redrive_all-rate_per_second');
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.textContent('main')).toContain('Redrive in progress');
  await page.evaluate('window.isSame = true');
  await expect.poll(() => page.textContent('#dead')).toBe('0 dead letters');
  expect(await page.evaluate('window.isSame')).toBe(true);
  expect(await stats('typed')).toMatchObject({ available_count: 6, dlq_count: 0 });
  expect(faults).toEqual([]);
});

test('what was chosen stays with its message while others go, and goes back alone', async () => {
  const ids = await failing('kept', 4);
  const { page, faults } = await open('kept');
  await page.check(`#choose-${ids[2]}`);
  await redrive('kept', { message_ids: [ids[0], ids[1]] });
  await expect.poll(() => rowsOf(page)).toBe(2);
  expect(await page.locator('input:checked').evaluateAll((boxes) => boxes.map((box) => box.id))).toContain(
    `choose-${ids[2]}`,
  );
  expect(await page.isChecked(`#choose-${ids[3]}`)).toBe(false);
  expect(await page.evaluate('window.isSame')).toBe(true);
  await page.click('button:has-text("Redrive selected")');
  await expect.poll(() => page.textContent('#dead')).toBe('1 dead letter');
  expect((await ok('GET', '/v1/queue/dlq/list/kept')).items[0].message_id).toBe(ids[3]);
  expect(faults).toEqual([]);
});

test('all of a page are chosen by one button, also of messages that came later', async () => {
  await failing('late', 0);
  const { page } = await open('late');
  expect(await rowsOf(page)).toBe(0);
  await ok('POST', '/v1/queue/batch/publish', { queue: 'late', items: [{ payload: {} }, { payload: {} }] });
  const { items } = await ok('POST', '/v1/queue/consume', { queue: 'late', max_messages: 10 });
  const receipts = items.map((item: { receipt_handle: string }) => item.receipt_handle);
  await ok('POST', '/v1/queue/nack', { queue: 'late', receipts, requeue: false });
  await expect.poll(() => rowsOf(page)).toBe(2);
  await page.click('button:has-text("Select all")');
  await page.click('button:has-text("Redrive selected")');
  await expect.poll(() => page.textContent('#dead')).toBe('0 dead letters');
});

test('without scripts: nothing chosen is told, a second redrive waits for the first, which is stopped', async () => {
  const ids = await failing('plain', 3);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const page = '/console/queues/plain/dlq';
  const none = await sendForm(visitor, page, 'redrive');
  expect([none.status, none.text.includes('Select the messages to redrive.')]).toEqual([400, true]);
  const one = await sendForm(visitor, page, 'redrive', { one: ids[1] as string, id: ids[0] as string });
  expect([one.status, one.location]).toEqual([303, `${page}?done=queue_dlq.redrive`]);
  expect(await stats('plain')).toMatchObject({ available_count: 1, dlq_count: 2 });
  const { redrive_id: id } = await redrive('plain', { rate_per_second: 1, max_messages: 1_000 });
  const refused = await sendForm(visitor, page, 'redrive', { id: ids[2] as string });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('A redrive of this queue is running.');
  expect(refused.text).toContain(`value="${ids[2]}" checked`);
  expect((await sendForm(visitor, page, 'cancel', { redrive_id: id })).status).toBe(303);
  const { items } = await ok('GET', '/v1/queue/dlq/redrives/plain');
  expect(items[0]).toMatchObject({ redrive_id: id, state: 'cancelled' });
});

test('a form that is sent twice moves its messages once', async () => {
  const [id = ''] = await failing('twice', 1);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const page = '/console/queues/twice/dlq';
  const { text } = await visitor.get(page);
  const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  const [, form_key = ''] = /name="form_key" value="([^"]+)"/.exec(text) ?? [];
  const fields = { form_token, form_key, act: 'redrive', id };
  const answers = [await visitor.post(page, fields), await visitor.post(page, fields)];
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect((await ok('GET', '/v1/queue/dlq/redrives/twice')).items).toHaveLength(1);
});
