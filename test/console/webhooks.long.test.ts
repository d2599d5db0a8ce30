// Webhooks in the console: registered with a secret that is shown once, tested, broken, mended, redelivered; switched off; deleted by id.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSoundPages, openConsole, press, sendForm, signedIn, tabTo } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\u202e'.padEnd(150, 'w');
let bench: ConsoleBench;
let other: TestAccount;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  other = await createTestAccount(bench.service.core, 5);
});
afterAll(() => bench?.stop());

async function register(path: string, description: string | null = null): Promise<string> {
  const made = await bench.call('POST', '/v1/account/webhooks/register', {
    url: bench.receiver.url(path),
    events: ['queue.dlq'],
    description,
    headers: { 'x-note': 'a note', authorization: 'Bearer very-secret' },
  });
  expect(made.status).toBe(200);
  return made.body.data.webhook_id;
}

const sendTest = (id: string) => bench.call('POST', `/v1/account/webhooks/test/${id}`, { note: HOSTILE });

test('is sound, narrow and dark', async () => {
  bench.receiver.status = 500;
  const id = await register('/sound', HOSTILE);
  await sendTest(id);
  bench.receiver.status = 200;
  await sendTest(id);
  await expectSoundPages(bench.chromium.browser, bench.service.url, bench.account.secret, [
    ['webhooks', 'Webhooks'],
    [`webhooks/${id}`, bench.receiver.url('/sound')],
    [`webhooks/${id}?status=succeeded`, bench.receiver.url('/sound')],
    [`webhooks/${id}?cursor=none`, bench.receiver.url('/sound')],
    [`webhooks/${id}/settings`, bench.receiver.url('/sound')],
    [`webhooks/${id}/delete`, 'Delete the webhook'],
    ['webhooks/wh_none', 'There is no such page'],
  ]);
  await expectSoundPages(bench.chromium.browser, bench.service.url, other.secret, [['webhooks', 'Webhooks']]);
});

test('a delivery that failed is sent again once the receiver is mended, and the page shows it without being asked again', async () => {
  bench.receiver.status = 500;
  const id = await register('/broken');
  await sendTest(id);
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/webhooks/${id}`);
  expect(await page.textContent('.table tbody')).toContain('HTTP 500');
  // Its attempts are drawn.
  expect(await page.textContent('figure.plot')).toContain('failed');
  bench.receiver.status = 200;
  await press(page, '.table tbody button:has-text("Redeliver")');
  await page.waitForURL('**?done=**');
  await expect.poll(() => page.locator('.table tbody .badge.good').count()).toBe(1);
  expect((await bench.receiver.arrived('/broken', 2)).map(({ event }) => event.event_id)).toHaveLength(2);
  expect(faults).toEqual([]);
});

test('it is switched off and on, and its headers are read, by keyboard alone', async () => {
  const id = await register('/switched');
  await sendTest(id);
  const { page } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/webhooks/${id}`);
  await press(page, 'button:has-text("Disable")');
  await expect.poll(() => page.textContent('main')).toContain('disabled');
  expect((await bench.call('GET', `/v1/account/webhooks/get/${id}`)).body.data.status).toBe('disabled');
  await press(page, 'button:has-text("Enable")');
  await expect.poll(() => page.locator('button:has-text("Disable")').count()).toBe(1);
  await press(page, '.table tbody summary');
  const shown = '.table tbody pre[aria-label^="Headers"]';
  await tabTo(page, shown);
  const headers = await page.textContent(shown);
  expect(headers).toContain('x-note: ****');
  expect(headers).not.toContain('very-secret');
});

test('one is registered without scripts, its secret shown once; changed; its secret made anew', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const fields = { url: bench.receiver.url('/new'), events: 'queue.dlq, wallet.low_balance', description: '' };
  const made = await sendForm(visitor, '/console/webhooks', 'create', fields);
  const [, secret] = /aria-label="Secret">(whsec_[^<]+)</.exec(made.text) ?? [];
  const [, id = ''] = /\/console\/webhooks\/(wh_\w+)"/.exec(made.text) ?? [];
  expect([made.status, secret?.length]).toEqual([200, expect.any(Number)]);
  const page = `/console/webhooks/${id}/settings`;
  expect((await visitor.get(page)).text).not.toContain(secret);
  const changed = await sendForm(visitor, page, 'update', { ...fields, events: 'queue.dlq', description: 'mine' });
  expect(changed.location).toBe(`${page}?done=webhook_settings.update`);
  expect((await bench.call('GET', `/v1/account/webhooks/get/${id}`)).body.data).toMatchObject({
    events: ['queue.dlq'],
    description: 'mine',
  });
  const rotated = await sendForm(visitor, page, 'rotate');
  expect(/aria-label="Secret">(whsec_[^<]+)</.exec(rotated.text)?.[1]).not.toBe(secret);
});

test('what is wrong with an address or an event is told at its field', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  for (const [fields, kept] of [
    [{ url: 'nowhere', events: 'queue.dlq' }, 'nowhere'],
    [{ url: bench.receiver.url('/x'), events: 'no.such' }, 'no.such'],
  ] as const) {
    const refused = await sendForm(visitor, '/console/webhooks', 'create', fields);
    expect([refused.status, refused.text.includes(kept), refused.text.includes('role="alert"')]).toEqual([
      400,
      true,
      true,
    ]);
  }
});

test('one is deleted by its id only', async () => {
  const id = await register('/deleted');
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const page = `/console/webhooks/${id}/delete`;
  expect((await sendForm(visitor, page, 'delete', { typed: 'wh_' })).status).toBe(400);
  expect((await bench.call('GET', `/v1/account/webhooks/get/${id}`)).status).toBe(200);
  expect((await sendForm(visitor, page, 'delete', { typed: id })).location).toBe(
    '/console/webhooks?done=webhook_delete.delete',
  );
  expect((await bench.call('GET', `/v1/account/webhooks/get/${id}`)).status).toBe(404);
});

test('a webhook of another account is as unknown as one that never was', async () => {
  const id = await register('/foreign');
  const visitor = await signedIn(bench.service.url, other.secret);
  const [foreign, random] = await Promise.all([id, 'wh_none'].map((each) => visitor.get(`/console/webhooks/${each}`)));
  expect([foreign?.status, random?.status]).toEqual([404, 404]);
  const main = (text = '') => /<main[\s\S]*?<footer/.exec(text)?.[0];
  expect(main(foreign?.text)).toBe(main(random?.text));
});
