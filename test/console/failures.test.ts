// What a page says of a failure: its code, what to do or where that is done, and the request; what a form was refused for, with what had been
// ticked and chosen; the call of a form that only asked, at the foot of its answer.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personSession, sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import {
  type Client,
  client,
  createTestAccount,
  createTestOperator,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let call: Client;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  account = await createTestAccount(service.core, 5);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/vector/collection/create', { collection: 'notes', dimension: 3 });
});
afterAll(async () => {
  await service?.stop();
});

/** The alert of a page: what it says, and where its first link leads. */
function alertOf(text: string) {
  const [, alert = ''] = /role="alert">([\s\S]*?)<\/div>/.exec(text) ?? [];
  const [, href = null] = /<a href="([^"]+)"/.exec(alert) ?? [];
  return { says: alert.replaceAll(/<[^>]+>/g, ''), href: href?.replaceAll('&amp;', '&') ?? null };
}

test('a form that the wallet or the budget cannot pay for leads to the wallet', async () => {
  const poor = await createTestAccount(service.core, 0);
  await client(service.url, poor.secret)('POST', '/v1/queue/create', { name: 'jobs' });
  const payload = { payload: '{"n": 1}' };
  const empty = await sendForm(
    await signedIn(service.url, poor.secret),
    '/console/queues/jobs/publish',
    'publish',
    payload,
  );
  expect(empty.status).toBe(402);
  expect(alertOf(empty.text)).toMatchObject({
    says: expect.stringMatching(/Top up the wallet[\s\S]*INSUFFICIENT_CREDIT[\s\S]*request \S+/),
    href: '/console/wallet',
  });
  const cap = { name: 'capped', spend_cap_usd: 0.000001, spend_cap_period: 'total' };
  const { key_secret } = (await call('POST', '/v1/account/keys/create', cap)).body.data;
  const spent = await sendForm(
    await signedIn(service.url, key_secret),
    '/console/queues/jobs/publish',
    'publish',
    payload,
  );
  expect([spent.status, alertOf(spent.text).href]).toEqual([402, '/console/keys']);
  const capped = await createTestAccount(service.core, 5);
  const own = client(service.url, capped.secret);
  await own('POST', '/v1/queue/create', { name: 'jobs' });
  await own('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 0 });
  const over = await sendForm(
    await signedIn(service.url, capped.secret),
    '/console/queues/jobs/publish',
    'publish',
    payload,
  );
  expect([over.status, alertOf(over.text)]).toMatchObject([
    402,
    { says: expect.stringMatching(/Raise the budget[\s\S]*INSUFFICIENT_CREDIT/), href: '/console/wallet' },
  ]);
});

test('a page and a form without their scope lead to another sign-in, and from there back', async () => {
  const { data } = (
    await call('POST', '/v1/account/keys/create', { name: 'reads', scopes: ['queue:read', 'account:read'] })
  ).body;
  const visitor = await signedIn(service.url, data.key_secret);
  const page = await visitor.get('/console/vectors/notes');
  expect(page.status).toBe(403);
  expect(page.text).toContain('href="/auth?again=1&amp;return_to=%2Fconsole%2Fvectors%2Fnotes"');
  const form_token = await visitor.formToken('/console/queues/jobs/publish');
  const form = { form_token, form_key: '0'.repeat(32), act: 'publish', payload: '{}' };
  const refused = await visitor.post('/console/queues/jobs/publish', form);
  expect(refused.status).toBe(403);
  expect(alertOf(refused.text)).toMatchObject({
    says: expect.stringContaining('INSUFFICIENT_SCOPE'),
    href: '/auth?again=1&return_to=%2Fconsole%2Fqueues%2Fjobs%2Fpublish',
  });
});

test('a suspended account is told the code, what to do and the request, on a page of its own', async () => {
  const other = await createTestAccount(service.core, 5);
  const visitor = await signedIn(service.url, other.secret);
  const operator = client(service.url, (await createTestOperator(service.core)).secret);
  const suspended = await operator('PATCH', '/v1/operator/accounts/update', {
    account_id: other.accountId,
    suspended: true,
  });
  expect(suspended.status).toBe(200);
  const answer = await visitor.get('/console');
  expect(answer.status).toBe(403);
  const { says } = alertOf(answer.text);
  for (const told of ['ACCOUNT_SUSPENDED', 'contact the operator', answer.headers.get('x-request-id') ?? 'none'])
    expect(says).toContain(told);
});

test('what asks for a sign-in of the last 15 minutes leads to it, and from there back to the form', async () => {
  const person = { accountId: account.accountId, email: 'ada@example.org', name: 'Ada', role: 'owner' } as const;
  const visitor = new PageVisitor(service.url);
  visitor.cookies.set('qm_session', await personSession(service.core, person));
  await service.advance(16 * 60);
  const fields = { name: 'late', scopes: 'queue:read', spend_cap_usd: '1', spend_cap_period: 'monthly' };
  const refused = await sendForm(visitor, '/console/keys', 'create', fields);
  expect(refused.status).toBe(403);
  const { says, href } = alertOf(refused.text);
  expect([says, href]).toEqual([
    expect.stringContaining('REAUTHENTICATION_REQUIRED'),
    '/auth?again=1&return_to=%2Fconsole%2Fkeys',
  ]);
  // What had been typed and chosen is still there.
  expect(refused.text).toContain('value="late"');
  expect(refused.text).toContain('<option value="monthly" selected>');
  const signIn = await visitor.get(href ?? '');
  expect(signIn.text).toContain('name="return_to" value="/console/keys"');
  const back = await visitor.post('/auth/key', { key: account.secret, return_to: '/console/keys' });
  expect(back.location).toBe('/console/keys');
  expect((await sendForm(visitor, '/console/keys', 'create', fields)).text).toContain('aria-label="Secret"');
});

test('a choice that was refused is tied to its fault, and what was ticked stays ticked', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const chosen = await sendForm(visitor, '/console/vectors', 'create', {
    collection: 'more',
    dimension: '3',
    metric: 'no-such',
  });
  expect(chosen.status).toBe(400);
  expect(chosen.text).toMatch(
    /<select id="create-metric" name="metric" aria-invalid="true" aria-describedby="create-metric-fault">/,
  );
  expect(chosen.text).toContain('id="create-metric-fault"');
  const box = /<input type="checkbox" id="topup-save_payment_method" name="save_payment_method"( checked)?/;
  expect(box.exec((await visitor.get('/console/wallet')).text)?.[1]).toBeUndefined();
  const paid = await sendForm(visitor, '/console/wallet', 'topup', { amount_usd: '-1', save_payment_method: 'on' });
  expect([paid.status, box.exec(paid.text)?.[1]]).toEqual([400, ' checked']);
  // One that stood ticked and was cleared stays cleared.
  const renamed = await sendForm(visitor, '/console/account', 'rename', { name: 'x'.repeat(1_000) });
  expect([renamed.status, /id="rename-notifications" name="notifications" checked/.test(renamed.text)]).toEqual([
    400,
    false,
  ]);
});

test('the answer to a form that only asked has its call at the foot', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const asked = await sendForm(visitor, '/console/vectors/notes/query', 'query', { embedding: '1 0 0', top_k: '3' });
  expect(asked.text).toContain('This page as curl (1 call)');
  expect(asked.text).toMatch(/\/v1\/vector\/query[\s\S]*&quot;embedding&quot;:\[1,0,0\]/);
  const video = { prompt: 'A boat.', duration_seconds: '1', resolution: '720p', aspect_ratio: '16:9', model: 'auto' };
  expect((await sendForm(visitor, '/console/video', 'quote', video)).text).toMatch(
    /The calls of this page">[^<]*\/v1\/video\/quote/,
  );
  const chat = { prompt: 'Hello.', model: 'sandbox/echo-1', max_completion_tokens: '50' };
  expect((await sendForm(visitor, '/console/ai', 'chat', chat)).text).toMatch(
    /The calls of this page">[^<]*\/v1\/ai\/chat/,
  );
  const routing = await sendForm(visitor, '/console/account', 'routing_test', { capability: 'ai.chat' });
  expect(routing.text).toMatch(/The calls of this page">[^<]*\/v1\/account\/routing\/test/);
  // One that makes something, such as a secret, has none.
  const made = await sendForm(visitor, '/console/keys', 'create', { name: 'new', scope: 'queue:read' });
  expect([made.text.includes('aria-label="Secret"'), made.text.includes('This page as curl')]).toEqual([true, false]);
});

test('only totals are announced when a page changes in place: the balance, and no failure anew at each look', async () => {
  const { data } = (await call('POST', '/v1/account/keys/create', { name: 'some', scopes: ['account:read'] })).body;
  const visitor = await signedIn(service.url, account.secret);
  for (const path of ['/console', '/console/wallet'])
    expect((await visitor.get(path)).text.match(/aria-live="polite"/g)?.length, path).toBe(1);
  const failing = (await (await signedIn(service.url, data.key_secret)).get('/console/events?cursor=none')).text;
  expect([failing.includes('INVALID_CURSOR'), failing.includes('role="alert"')]).toEqual([true, false]);
});
