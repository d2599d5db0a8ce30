// Keys in the console: made with a secret that is shown once, narrowed, rotated, reported and revoked, each in force at the next call; and
// where the money went, by key. What a narrow key's session may not see is refused with the scope that is missing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 12.5);
  const call = client(service.url, account.secret);
  const name = '<b onclick=alert(1)>"worker" \u202e'.padEnd(100, 'w');
  const planted = await call('POST', '/v1/account/keys/create', {
    name,
    scopes: ['queue:write', 'errors.capture'],
    spend_cap_usd: 0.00002,
    spend_cap_period: 'daily',
  });
  expect(planted.status).toBe(200);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  await call('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 5 });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test('keys, usage and events are sound, narrow and dark, wide and light', async () => {
  await expectSoundPages(chromium.browser, service.url, account.secret, [
    ['keys', 'Keys'],
    ['usage', 'Usage'],
    ['usage?by=key&period=30d&figure=calls', 'Usage'],
    ['events', 'Events'],
    ['events?type=none.such', 'Events'],
    [`keys/${account.keyId}/revoke`, `Revoke ${account.keyId}`],
    [`keys/${account.keyId}`, account.keyId],
    ['keys/key_0', 'There is no such page'],
  ]);
});

test('a key is made, shown once, narrowed and revoked, without scripts', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/keys', 'create', { name: 'new', scopes: 'queue:fly' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('value="queue:fly"');
  expect(refused.text).toContain('INVALID_SCOPE');
  const made = await sendForm(visitor, '/console/keys', 'create', {
    name: 'new',
    scopes: 'queue:write',
    spend_cap_usd: '1.5',
  });
  const [, secret = ''] = /class="secret"[^>]*>([^<]+)</.exec(made.text) ?? [];
  expect(made.status).toBe(200);
  const call = client(service.url, secret);
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
  expect((await visitor.get('/console/keys')).text).not.toContain(secret);
  const [, id = ''] =
    /href="\/console\/keys\/(key_\w+)"[^>]*><bdi>new</.exec((await visitor.get('/console/keys')).text) ?? [];
  const page = `/console/keys/${id}`;
  const narrowed = await sendForm(visitor, page, 'narrow', { name: 'new', scopes: 'vector:read', spend_cap_usd: '' });
  expect([narrowed.status, narrowed.location]).toEqual([303, `${page}?done=key.narrow`]);
  expect((await visitor.get(narrowed.location ?? '')).text).toContain('The key was changed.');
  expect((await call('GET', '/v1/queue/list')).status).toBe(403);
  const untyped = await sendForm(visitor, `${page}/revoke`, 'revoke', { typed: 'something' });
  expect([untyped.status, untyped.text.includes(`Type ${id} to revoke`)]).toEqual([400, true]);
  const revoked = await sendForm(visitor, `${page}/revoke`, 'revoke', { typed: id });
  expect([revoked.status, revoked.location]).toEqual([303, '/console/keys?done=key_revoke.revoke']);
  expect((await call('GET', '/v1/queue/list')).status).toBe(401);
});

test('a form that is sent twice makes one key, and shows the same secret', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const { text } = await visitor.get('/console/keys');
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  const fields = { form_token: formToken, form_key: 'ab'.repeat(16), act: 'create', name: 'twice' };
  const answers = await Promise.all([visitor.post('/console/keys', fields), visitor.post('/console/keys', fields)]);
  const secrets = answers.map((answer) => /class="secret"[^>]*>([^<]+)</.exec(answer.text)?.[1]);
  expect(secrets[0]).toMatch(/^qm_/);
  expect(secrets[1]).toBe(secrets[0]);
});

test('forms of other sites, of other sessions and without a key of their own change nothing', async () => {
  const [visitor, other] = await Promise.all([
    signedIn(service.url, account.secret),
    signedIn(service.url, account.secret),
  ]);
  const token = await visitor.formToken('/console/keys');
  const fields = { form_token: token, form_key: 'cd'.repeat(16), act: 'create', name: 'foreign' };
  const sent = [
    visitor.post('/console/keys', fields, { origin: 'https://elsewhere.example' }),
    visitor.post('/console/keys', fields, { 'sec-fetch-site': 'cross-site' }),
    other.post('/console/keys', fields),
    visitor.post('/console/keys', { ...fields, form_key: '' }),
    visitor.post('/console/keys', { ...fields, act: 'toString' }),
    new PageVisitor(service.url).post('/console/keys', fields),
  ];
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 303]);
  const { body } = await client(service.url, account.secret)('GET', '/v1/account/keys/list?limit=100');
  expect(body.data.items.map((key: { name: string }) => key.name)).not.toContain('foreign');
});

test('a session that may not see a page is told which scope is missing, and not shown the way there', async () => {
  const { body } = await client(service.url, account.secret)('POST', '/v1/account/keys/create', {
    scopes: ['queue:read'],
  });
  const visitor = await signedIn(service.url, body.data.key_secret);
  const page = await visitor.get('/console/keys');
  expect([page.status, page.text.includes('account:read'), page.text.includes('href="/console/keys"')]).toEqual([
    403,
    true,
    false,
  ]);
});

test('usage as CSV holds what the API tells', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const file = await visitor.get('/console/usage?as=csv&period=30d');
  expect(file.headers.get('content-type')).toContain('text/csv');
  const [head, ...rows] = file.text.split('\r\n');
  expect(head).toBe('capability,calls,units,spend_usd');
  expect(rows).toContain('queue.publish,1,1,0.00002');
});
