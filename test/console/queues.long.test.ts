// Queues in the console: made, filled, looked at without a lease, set, purged and deleted by name. Payloads stay as they were sent.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSoundPages, openConsole, press, sendForm, signedIn, tabTo } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\u202e'.padEnd(150, 'w');
/** Neither JSON.parse nor an object of JavaScript would keep it. */
const EXACT = '{"b":1.0,"2":12345678901234567890,"1":"\\u0041"}';
let bench: ConsoleBench;
let other: TestAccount;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  other = await createTestAccount(bench.service.core, 5);
  await ok('POST', '/v1/queue/create', { name: 'failed' });
  await ok('POST', '/v1/queue/create', { name: 'jobs', dead_letter_queue: 'failed', max_retries: 1 });
  await ok('POST', '/v1/queue/create', { name: 'ordered', type: 'fifo' });
  await ok('POST', '/v1/queue/create', { name: 'empty' });
  const message = { queue: 'jobs', payload: { task: HOSTILE }, headers: { [HOSTILE]: HOSTILE } };
  await ok('POST', '/v1/queue/publish', message);
  await ok('POST', '/v1/queue/publish', {
    queue: 'ordered',
    payload: { n: 1 },
    message_group_id: HOSTILE.slice(0, 80),
  });
  await ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 2 }, delay_seconds: 3_600 });
  const url = `https://example.org/${'long/'.repeat(40)}`;
  await ok('POST', '/v1/queue/subscribe', {
    queue: 'empty',
    url,
    headers: { Authorization: 'Bearer of-the-receiver' },
  });
});
afterAll(() => bench?.stop());

async function ok(method: string, path: string, body?: unknown) {
  const reply = await bench.call(method, path, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data;
}

const stats = (queue: string) => ok('GET', `/v1/queue/stats/${queue}`);
const isSound = (pages: readonly (readonly [string, string])[], secret = bench.account.secret) =>
  expectSoundPages(bench.chromium.browser, bench.service.url, secret, pages);

test('is sound, narrow and dark', async () => {
  await isSound([
    ['queues', 'Queues'],
    ['queues?cursor=none', 'Queues'],
    ['queues/jobs', 'jobs'],
    ['queues/jobs?peek=99', 'jobs'],
    ['queues/failed', 'failed'],
    ['queues/ordered', 'ordered'],
    ['queues/empty', 'empty'],
    ['queues/jobs?period=7d', 'jobs'],
    ['queues/jobs/publish', 'jobs'],
    ['queues/ordered/publish', 'ordered'],
    ['queues/empty/push', 'empty'],
    ['queues/jobs/push', 'jobs'],
    ['queues/jobs/settings', 'jobs'],
    ['queues?new=1', 'New queue'],
    ['queues/jobs/push?new=1', 'New subscription'],
    ['queues/jobs/purge', 'Purge jobs'],
    ['queues/jobs/delete', 'Delete jobs'],
    ['queues/none', 'There is no such page'],
  ]);
  await isSound([['queues', 'Queues']], other.secret);
});

const rename = (from: string, to: string) => ({
  name: `test_rename_${from}`,
  text: `ALTER TABLE queue.${from} RENAME TO ${to}`,
});

test('figures that cannot be read take nothing else of the page with them', async () => {
  await bench.service.core.db.query(rename('total', 'lost'), []);
  try {
    await isSound([
      ['queues?', 'Queues'],
      ['queues/jobs?', 'jobs'],
      ['queues/jobs/dlq?', 'jobs'],
    ]);
    const visitor = await signedIn(bench.service.url, bench.account.secret);
    const { text } = await visitor.get('/console/queues');
    expect(text.match(/INTERNAL_ERROR<\/code>/g)).toHaveLength(1);
    for (const part of ['>jobs</', '>unknown</td>', 'Some figures could not be read.', 'New queue'])
      expect(text).toContain(part);
    expect((await visitor.get('/console/queues/jobs')).text).toContain('Peeking takes no lease');
    expect((await visitor.get('/console/queues/jobs/purge')).status).toBe(500);
  } finally {
    await bench.service.core.db.query(rename('lost', 'total'), []);
  }
});

test('a queue is made, set, filled and looked at by keyboard alone', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await press(page, 'nav a:has-text("Queues")');
  await expect.poll(() => page.textContent('h1')).toBe('Queues');
  await press(page, 'a.main:has-text("New queue")');
  await tabTo(page, '#create-name');
  await page.keyboard.type('by-hand');
  await tabTo(page, '#create-dead_letter_queue');
  await page.keyboard.type('failed');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.textContent('h1')).toBe('by-hand');
  expect(await page.textContent('.empty')).toContain('The queue is empty.');
  await press(page, '.tabs a:has-text("Publish")');
  await tabTo(page, '#publish-payload');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(EXACT);
  await press(page, 'button:has-text("Publish")');
  await expect.poll(() => page.textContent('.done')).toBe('Message published.');
  await press(page, '.tabs a:has-text("Messages")');
  await page.waitForSelector('tbody td[data-title="Payload"]');
  expect(await page.textContent('tbody td[data-title="Payload"]')).toBe(EXACT);
  expect(await stats('by-hand')).toMatchObject({ available_count: 1, in_flight_count: 0 });
  await press(page, '.tabs a:has-text("Settings")');
  await tabTo(page, '#update-max_retries');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('7');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.textContent('.done')).toBe('Settings saved.');
  expect(await ok('GET', '/v1/queue/get/by-hand')).toMatchObject({ max_receive_count: 7, dlq_name: 'failed' });
  expect((await bench.call('POST', '/v1/queue/consume', { queue: 'by-hand' })).text).toContain(EXACT);
  expect(faults).toEqual([]);
});

test('figures follow what programs do, without a reload', async () => {
  await ok('POST', '/v1/queue/create', { name: 'watched' });
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/queues/watched`);
  await page.evaluate('window.isSame = true');
  const figures = async () => (await page.locator('.figures dd').allTextContents()).slice(0, 3);
  expect(await figures()).toEqual(['0', '0', '0']);
  await ok('POST', '/v1/queue/publish', { queue: 'watched', payload: { n: 1 } });
  await expect.poll(figures).toEqual(['1', '0', '0']);
  await ok('POST', '/v1/queue/consume', { queue: 'watched' });
  await expect.poll(figures).toEqual(['0', '1', '0']);
  // Time alone ends the lease: no tick tells.
  await bench.service.advance(301);
  await expect.poll(figures).toEqual(['1', '0', '0']);
  expect(await page.evaluate('window.isSame')).toBe(true);
  expect(faults).toEqual([]);
});

test('a long payload is cut, and downloaded as it was sent', async () => {
  await ok('POST', '/v1/queue/create', { name: 'long' });
  const text = `{"queue":"long","payload":{"x":"${'é'.repeat(100_000)}",\n"n":1.0}}`;
  expect((await bench.call('POST', '/v1/queue/publish', text)).status).toBe(200);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const page = await visitor.get('/console/queues/long');
  expect(page.text.length).toBeLessThan(100_000);
  expect(page.text).toContain('Cut after 64 KiB');
  const [, href = ''] = /<a href="([^"]+)">Download it whole/.exec(page.text) ?? [];
  const file = await visitor.get(`/console/queues/${href.replaceAll('&amp;', '&')}`);
  expect(file.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  expect(file.text.trimEnd().split('\n')).toHaveLength(1);
  expect(file.text).toContain(`"payload":{"x":"${'é'.repeat(100_000)}", "n":1.0}`);
  expect(JSON.parse(file.text)).toMatchObject({ queue: 'long', delivery_count: 0 });
  const gone = await visitor.get('/console/queues/long?as=jsonl&message=none');
  expect([gone.status, gone.text.includes('The message is not here any more.')]).toEqual([404, true]);
});

test('what is refused keeps what was typed and says why at its field', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const refused = async (path: string, act: string, fields: Record<string, string>, at: string) => {
    const page = await sendForm(visitor, path, act, fields);
    expect([page.status, page.text.includes(`id="${act}-${at}-fault"`)], at).toEqual([400, true]);
    return page.text;
  };
  const jobs = '/console/queues/jobs/publish';
  expect(await refused(jobs, 'publish', { payload: '{"a":' }, 'payload')).toContain('\n{&quot;a&quot;:</textarea>');
  await refused(jobs, 'publish', { payload: '[1]' }, 'payload');
  await refused(jobs, 'publish', { payload: '{}', delay_seconds: 'soon' }, 'delay_seconds');
  expect(await refused('/console/queues/jobs/settings', 'update', { max_retries: '0' }, 'max_retries')).toContain(
    'value="0"',
  );
  await refused('/console/queues', 'create', { name: 'UPPER' }, 'name');
  const escaped = await sendForm(visitor, jobs, 'publish', { payload: '{}, "queue": "empty"' });
  expect(escaped.status).toBe(400);
});

test('a queue is purged and deleted without scripts, by its name only, and both say how much goes', async () => {
  await ok('POST', '/v1/queue/create', { name: 'short-lived' });
  const items = Array.from({ length: 3 }, (_, n) => ({ payload: { n }, delay_seconds: n === 0 ? 60 : 0 }));
  await ok('POST', '/v1/queue/batch/publish', { queue: 'short-lived', items });
  await ok('POST', '/v1/queue/consume', { queue: 'short-lived' });
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const purge = '/console/queues/short-lived/purge';
  expect((await visitor.get(purge)).text).toContain(
    'This deletes 3 messages (1 available, 1 in flight, 1 delayed). It cannot be undone.',
  );
  expect((await sendForm(visitor, purge, 'purge', { typed: 'short' })).status).toBe(400);
  expect(await stats('short-lived')).toMatchObject({ message_count: 2, delayed_count: 1 });
  const purged = await sendForm(visitor, purge, 'purge', { typed: 'short-lived' });
  expect(purged.location).toBe('/console/queues/short-lived?done=queue_purge.purge');
  expect(await stats('short-lived')).toMatchObject({ message_count: 0, delayed_count: 0 });
  const end = '/console/queues/short-lived/delete';
  expect((await sendForm(visitor, end, 'delete', { typed: '' })).status).toBe(400);
  expect((await sendForm(visitor, end, 'delete', { typed: 'short-lived' })).location).toBe(
    '/console/queues?done=queue_delete.delete',
  );
  expect((await bench.call('GET', '/v1/queue/get/short-lived')).status).toBe(404);
  const serves = await sendForm(visitor, '/console/queues/failed/delete', 'delete', { typed: 'failed' });
  expect([serves.status, serves.text.includes('It is the dead-letter queue of')]).toEqual([409, true]);
});

test('a push subscription is made without scripts, its secret shown once', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const page = '/console/queues/ordered/push?new=1';
  const refused = await sendForm(visitor, page, 'subscribe', { url: 'nowhere', max_in_flight: '2' });
  expect([refused.status, refused.text.includes('id="subscribe-url-fault"')]).toEqual([400, true]);
  const fields = { url: 'https://example.org/pushed', max_in_flight: '2', visibility_timeout: '' };
  const made = await sendForm(visitor, page, 'subscribe', fields);
  const [, secret] = /aria-label="Secret">(whsec_[^<]+)</.exec(made.text) ?? [];
  expect([made.status, typeof secret]).toEqual([200, 'string']);
  const { items } = await ok('GET', '/v1/queue/subscriptions/ordered');
  expect(items).toMatchObject([{ url: fields.url, max_in_flight: 2 }]);
  const { text } = await visitor.get('/console/queues/ordered/push');
  expect([text.includes(fields.url), text.includes(secret as string)]).toEqual([true, false]);
});

test('a key that may only read sees figures, messages and settings, and no form that writes', async () => {
  const { key_secret: reader } = await ok('POST', '/v1/account/keys/create', { scopes: ['queue:read'] });
  const visitor = await signedIn(bench.service.url, reader);
  for (const path of ['queues', 'queues/jobs', 'queues/jobs/dlq', 'queues/jobs/settings', 'queues/jobs/push']) {
    const { status, text } = await visitor.get(`/console/${path}`);
    const [main = ''] = /<main[\s\S]*<\/main>/.exec(text) ?? [];
    expect([status, main.includes('method="post"')], path).toEqual([200, false]);
  }
  expect((await visitor.get('/console/queues/jobs/settings')).text).toContain('Max deliveries');
  expect((await visitor.get('/console/queues/jobs/publish')).status).toBe(403);
  const { key_secret: lister } = await ok('POST', '/v1/account/keys/create', { scopes: ['queue.list'] });
  const list = (await (await signedIn(bench.service.url, lister)).get('/console/queues')).text;
  expect([list.includes('>jobs</'), list.includes('In flight'), list.includes('class="failure"')]).toEqual([
    ...[true, false, false],
  ]);
  for (const path of ['purge', 'delete']) expect((await visitor.get(`/console/queues/jobs/${path}`)).status).toBe(403);
  await isSound(
    [
      ['queues', 'Queues'],
      ['queues/jobs', 'jobs'],
      ['queues/jobs/purge', 'This page cannot be shown'],
    ],
    reader,
  );
});

test('a queue of another account is as unknown as one that never was', async () => {
  const visitor = await signedIn(bench.service.url, other.secret);
  const main = (text = '') => /<main[\s\S]*?<footer/.exec(text)?.[0];
  for (const below of ['', '/dlq', '/publish', '/push', '/settings', '/purge', '/delete']) {
    const [foreign, random] = await Promise.all(
      ['jobs', 'none'].map((name) => visitor.get(`/console/queues/${name}${below}`)),
    );
    expect([foreign?.status, random?.status], below).toEqual([404, 404]);
    expect(main(foreign?.text)).toContain('There is no such page');
    expect(main(foreign?.text)).toBe(main(random?.text));
  }
});
