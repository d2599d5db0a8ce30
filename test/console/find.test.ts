// Search: objects of all modules by a part of their name or ID, by the API and in the console; nothing of another account, nothing that the caller may not list.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

async function filledAccount(mark: string): Promise<{ secret: string; call: Client }> {
  const { secret } = await createTestAccount(service.core, 1);
  const call = client(service.url, secret);
  const task = 'https://example.org/tasks';
  const made = await Promise.all([
    call('POST', '/v1/queue/create', { name: `${mark}-jobs` }),
    call('POST', '/v1/cron/create', { name: `${mark} report`, task, cron_expr: '0 9 * * *' }),
    call('POST', '/v1/vector/collection/create', { collection: `${mark}-notes`, dimension: 3 }),
    call('POST', '/v1/errors/capture', { title: `${mark} failure` }),
    call('POST', '/v1/account/keys/create', { name: `${mark} key` }),
    call('POST', '/v1/account/webhooks/register', { url: `https://example.org/${mark}`, events: ['queue.dlq'] }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  return { secret, call };
}

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly console_url: string;
}

/** Kinds of what is found: by the API, on the page, and for the palette the same. */
async function kindsFound(secret: string, q: string): Promise<string[]> {
  const sought = `q=${encodeURIComponent(q)}`;
  const { status, body } = await client(service.url, secret)('GET', `/v1/account/search?${sought}`);
  expect(status, JSON.stringify(body)).toBe(200);
  const items: Found[] = body.data.items;
  const visitor = await signedIn(service.url, secret);
  const { text } = await visitor.get(`/console/find?${sought}`);
  const kinds = [...text.matchAll(/<span class="badge plain">([a-z ]+)<\/span>/g)].map(([, kind]) => kind);
  expect(kinds).toEqual(items.map(({ kind }) => kind));
  const lines = (await visitor.get(`/console/find?as=jsonl&${sought}`)).text.split('\n').filter((line) => line !== '');
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    items.map(({ kind, id, name, console_url }) => ({ kind, id, name, path: new URL(console_url).pathname })),
  );
  for (const { console_url: url } of items) expect((await visitor.get(new URL(url).pathname)).status, url).toBe(200);
  return items.map(({ kind }) => kind).sort();
}

test('every kind of object is found by a part of its name, and by its id', async () => {
  const { secret, call } = await filledAccount('alpha');
  expect(await kindsFound(secret, 'LPHA')).toEqual(['collection', 'error', 'key', 'queue', 'schedule', 'webhook']);
  const { body } = await call('GET', '/v1/cron/list');
  expect(await kindsFound(secret, body.data.items[0].job_id)).toEqual(['schedule']);
  expect(await kindsFound(secret, 'no such thing')).toEqual([]);
  const failed = await call('GET', '/v1/queue/get/none');
  expect(await kindsFound(secret, failed.body.error.request_id)).toEqual(['request']);
});

test('a person of analytics is found by any whole distinct ID, and nothing failed where there is none', async () => {
  const { secret, call } = await filledAccount('echo');
  const identify = { event: '$identify', distinct_id: 'ann/1', properties: { $anon_distinct_id: 'browser 7' } };
  await call('POST', '/v1/analytics/capture', identify);
  expect(await kindsFound(secret, 'browser 7')).toEqual(['person']);
  expect(await kindsFound(secret, 'browser')).toEqual([]);
  const { body } = await call('GET', '/v1/account/requests/list?outcome=failed');
  expect(body.data.items).toEqual([]);
});

test('received mail is found by its sender, by words of its subject, and by its id', async () => {
  const { secret, call } = await filledAccount('foxtrot');
  const address = 'foxtrot@inbox.test';
  await call('POST', '/v1/email/inbox/create', { address });
  const source = `From: Ann <ann@foxtrot.test>\r\nTo: ${address}\r\nSubject: The harbour is closed\r\n\r\nUntil noon.\r\n`;
  const path = `/v1/email/inbound?from=ann@foxtrot.test&to=${address}`;
  const { status, body } = await call('POST', path, Buffer.from(source), { 'content-type': 'message/rfc822' });
  expect(status, JSON.stringify(body)).toBe(200);
  for (const q of ['ANN@foxtrot.test', 'closed harbour', body.data.inbound_id])
    expect(await kindsFound(secret, q), q).toEqual(['received mail']);
  expect(await kindsFound(secret, 'bob@foxtrot.test')).toEqual([]);
  const other = await filledAccount('golf');
  expect(await kindsFound(other.secret, 'closed harbour')).toEqual([]);
});

test('nothing of another account is found, and a narrow key finds what it may list', async () => {
  const other = await filledAccount('bravo');
  const { secret, call } = await filledAccount('charlie');
  expect(await kindsFound(secret, 'bravo')).toEqual([]);
  const failed = await other.call('GET', '/v1/queue/get/none');
  expect(await kindsFound(secret, failed.body.error.request_id)).toEqual([]);
  const scopes = ['queue:read', 'account.search'];
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'narrow', scopes });
  expect(await kindsFound(body.data.key_secret, 'charlie')).toEqual(['queue']);
});

test('what is sought has a length, and each kind is found at most 20 times, wherever in the first 500', async () => {
  const { secret, call } = await filledAccount('delta');
  for (const q of ['', 'x'.repeat(201)]) expect((await call('GET', `/v1/account/search?q=${q}`)).status, q).toBe(400);
  for (let n = 100; n < 205; n += 1) await call('POST', '/v1/queue/create', { name: `many-${n}` });
  expect(await kindsFound(secret, 'many-')).toHaveLength(20);
  expect(await kindsFound(secret, 'many-204')).toEqual(['queue']);
});
