// Schedules in the console: made with a secret that is shown once, read in two zones, paused and resumed, deleted by id.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSoundPages, openConsole, press, sendForm, signedIn } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"'.padEnd(120, 'w');
let bench: ConsoleBench;
let other: TestAccount;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  other = await createTestAccount(bench.service.core, 5);
});
afterAll(() => bench?.stop());

async function create(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const made = await bench.call('POST', '/v1/cron/create', { task: bench.receiver.url('/run'), ...fields });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made.body.data.job_id;
}

/** A job that has run, with an answer of 500. */
async function ran(): Promise<string> {
  bench.receiver.status = 500;
  const id = await create({
    name: HOSTILE,
    run_at: new Date(Date.now() + 1_500).toISOString(),
    payload: { text: HOSTILE },
  });
  const runs = async () => (await bench.call('GET', `/v1/cron/runs/${id}`)).body.data.items;
  await expect.poll(async () => (await runs())[0]?.status).toBe('failed');
  bench.receiver.status = 200;
  return id;
}

test('is sound, narrow and dark; what failed leads from the overview to its runs', async () => {
  const [failed, daily] = await Promise.all([
    ran(),
    create({ name: 'daily', cron_expr: '0 9 * * *', timezone: 'Asia/Shanghai', headers: { 'x-key': 'very-secret' } }),
  ]);
  await expectSoundPages(bench.chromium.browser, bench.service.url, bench.account.secret, [
    ['schedules', 'Schedules'],
    ['schedules?status=paused', 'Schedules'],
    [`schedules/${failed}`, HOSTILE.slice(0, 120)],
    [`schedules/${daily}`, 'daily'],
    [`schedules/${daily}?cursor=none`, 'daily'],
    [`schedules/${daily}/settings`, 'daily'],
    [`schedules/${daily}/delete`, 'Delete the schedule'],
    ['schedules/cron_none', 'There is no such page'],
  ]);
  await expectSoundPages(bench.chromium.browser, bench.service.url, other.secret, [['schedules', 'Schedules']]);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  expect((await visitor.get('/console')).text).toContain(`/console/schedules/${failed}`);
  const { text } = await visitor.get(`/console/schedules/${daily}`);
  expect([text.includes('09:00:00 GMT+8, Asia/Shanghai'), text.includes('very-secret')]).toEqual([true, false]);
});

test('it is run now by keyboard alone, its next runs stay, and a failure is told in words', async () => {
  const id = await create({ name: 'by hand', task: 'http://127.0.0.1:1/closed', cron_expr: '0 9 * * *' });
  const { next_runs: before } = (await bench.call('GET', `/v1/cron/get/${id}`)).body.data;
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/schedules/${id}`);
  expect(await page.locator('h2:has-text("Next runs") + ol li').count()).toBe(5);
  await press(page, 'button:has-text("Run now")');
  await expect.poll(() => page.textContent('tbody')).toMatch(/Connection refused \(\d+ ms\)/);
  expect(await page.textContent('tbody')).toContain('run now');
  expect((await bench.call('GET', `/v1/cron/get/${id}`)).body.data.next_runs).toEqual(before);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  for (const path of ['', '/schedules']) {
    expect((await visitor.get(`/console${path}`)).text, path).toMatch(/Connection refused \(\d+ ms\)/);
  }
  expect(faults).toEqual([]);
});

test('it is paused and resumed by keyboard alone', async () => {
  const id = await create({ name: 'hourly', cron_expr: '0 * * * *' });
  const status = async () => (await bench.call('GET', `/v1/cron/get/${id}`)).body.data.status;
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/schedules`);
  await press(page, 'tbody a:has-text("hourly")');
  await press(page, 'button:has-text("Pause")');
  await expect.poll(status).toBe('paused');
  await press(page, 'button:has-text("Resume")');
  await expect.poll(status).toBe('active');
  expect(faults).toEqual([]);
});

test('one is made without scripts, its secret shown once, and changed', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const fields = {
    task: bench.receiver.url('/made'),
    name: 'made',
    cron_expr: '30 9 * * *',
    timezone: 'Europe/Berlin',
    run_at: '',
  };
  const made = await sendForm(visitor, '/console/schedules', 'create', fields);
  const [, secret] = /aria-label="Secret">(whsec_[^<]+)</.exec(made.text) ?? [];
  const [, id = ''] = /\/console\/schedules\/(cron_\w+)"/.exec(made.text) ?? [];
  expect([made.status, typeof secret]).toEqual([200, 'string']);
  const page = `/console/schedules/${id}/settings`;
  expect((await visitor.get(`/console/schedules/${id}`)).text).not.toContain(secret);
  const change = { name: '', task: fields.task, cron_expr: '0 8 * * *', timezone: 'UTC', run_at: '' };
  expect((await sendForm(visitor, page, 'update', change)).location).toBe(`${page}?done=schedule_settings.update`);
  expect((await bench.call('GET', `/v1/cron/get/${id}`)).body.data).toMatchObject({
    name: null,
    cron_expr: '0 8 * * *',
    timezone: 'UTC',
  });
});

test('a schedule that cannot be read keeps what was typed and says why at its field', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const fields = { task: bench.receiver.url('/x'), name: '', cron_expr: 'every day', timezone: 'UTC', run_at: '' };
  const refused = await sendForm(visitor, '/console/schedules', 'create', fields);
  expect([refused.status, refused.text.includes('value="every day"'), /class="fault"/.test(refused.text)]).toEqual([
    400,
    true,
    true,
  ]);
});

test('one is deleted by its id only, and one of another account is as unknown as none', async () => {
  const id = await create({ cron_expr: '0 9 * * *' });
  const [visitor, stranger] = await Promise.all(
    [bench.account, other].map(({ secret }) => signedIn(bench.service.url, secret)),
  );
  if (visitor === undefined || stranger === undefined) throw new Error('nobody signed in');
  const [foreign, random] = await Promise.all(
    [id, 'cron_none'].map((each) => stranger.get(`/console/schedules/${each}`)),
  );
  const main = (text = '') => /<main[\s\S]*?<footer/.exec(text)?.[0];
  expect([foreign?.status, main(foreign?.text)]).toEqual([404, main(random?.text)]);
  const ended = await ran();
  expect((await visitor.get(`/console/schedules/${ended}/delete`)).text).toContain(
    'It had 1 run in the last 24 hours. The record of 1 run in 30 days is deleted with it.',
  );
  const page = `/console/schedules/${id}/delete`;
  expect((await sendForm(visitor, page, 'delete', { typed: 'x' })).status).toBe(400);
  expect((await sendForm(visitor, page, 'delete', { typed: id })).location).toBe(
    '/console/schedules?done=schedule_delete.delete',
  );
  expect((await bench.call('GET', `/v1/cron/get/${id}`)).status).toBe(404);
});
