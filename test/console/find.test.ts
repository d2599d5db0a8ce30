// Search in the console: objects of all modules by a part of their name or id; nothing of another account, nothing that the visitor may not list.
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

/** Kinds of what is found, as the page names them. */
async function kindsFound(secret: string, q: string): Promise<string[]> {
  const { status, text } = await (await signedIn(service.url, secret)).get(`/console/find?q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
  return [...text.matchAll(/<span class="badge plain">([a-z]+)<\/span>/g)].map(([, kind]) => kind as string).sort();
}

test('every kind of object is found by a part of its name, and by its id', async () => {
  const { secret, call } = await filledAccount('alpha');
  expect(await kindsFound(secret, 'LPHA')).toEqual(['collection', 'error', 'key', 'queue', 'schedule', 'webhook']);
  const { body } = await call('GET', '/v1/cron/list');
  expect(await kindsFound(secret, body.data.items[0].id)).toEqual(['schedule']);
  expect(await kindsFound(secret, 'no such thing')).toEqual([]);
});

test('nothing of another account is found, and a narrow key finds what it may list', async () => {
  await filledAccount('bravo');
  const { secret, call } = await filledAccount('charlie');
  expect(await kindsFound(secret, 'bravo')).toEqual([]);
  const scopes = ['queue:read', 'account.get'];
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'narrow', scopes });
  expect(await kindsFound(body.data.key_secret, 'charlie')).toEqual(['queue']);
});
