// Daily a session has a new token, and the old one lives for a minute more: whatever is answered to the request that brought it about takes
// the new one to the browser, a redirect, a refusal and a failure as well as a page.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { personSession } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestOperator, startTestService, type TestService } from '../support/service.ts';

const PROVIDER = {
  id: 'corp',
  type: 'oidc',
  name: 'Corp',
  issuer: 'http://127.0.0.1:9',
  client_id: 'q',
  client_secret: 's',
};
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { IDENTITY_PROVIDERS: JSON.stringify([PROVIDER]) } });
});
afterAll(async () => {
  await service?.stop();
});

const aDayBefore = (column: string) => `(${column} AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC'`;
/** In UTC, because a distributed engine refuses an update that depends on the zone of a connection. */
const ageSessions = {
  name: 'test_age_sessions',
  text: `UPDATE core.session SET rotated_at = ${aDayBefore('rotated_at')}, signed_in_at = ${aDayBefore('signed_in_at')}`,
};

/** A browser whose session is a day old: it has a new token with its next request. */
async function visitorOfYesterday(role: 'owner' | 'viewer' = 'owner') {
  const { core } = service;
  const accountId = await core.db.transaction((tx) => createAccount(tx, { name: 'aged' }));
  const token = await personSession(core, { accountId, email: `${accountId}@example.org`, name: 'Ada', role });
  const visitor = new PageVisitor(service.url);
  visitor.cookies.set('qm_session', token);
  const formToken = await visitor.formToken('/auth/account');
  await core.db.query(ageSessions, []);
  return { visitor, accountId, formToken };
}

const AUTHORIZE = '/oauth/authorize?client_id=x&redirect_uri=http://127.0.0.1:1/';
const FORM = { form_token: 'FORM_TOKEN' };

test.each([
  ['a page', 'GET', '/auth/account', 200],
  ['a page of the console', 'GET', '/console/keys', 200],
  ['a page of the console that there is not', 'GET', '/console/keys/key_0', 404],
  ['a file', 'GET', '/console/wallet?as=csv', 200],
  ['the way to the sign-in that is too old', 'GET', '/device', 303],
  ['the same', 'GET', AUTHORIZE, 303],
  ['the page of sign-in, where somebody is', 'GET', '/auth?return_to=/console', 303],
  ['a form that asks for another sign-in', 'POST', '/auth/account/invite', 303, FORM],
  ['the same', 'POST', '/wallet/charge-limit', 303, { ...FORM, limit_usd: '5' }],
  ['the same', 'POST', '/auth/start/corp', 303, FORM],
  ['a form that leads back', 'POST', '/auth/account/switch', 303, FORM],
  ['a form of another session', 'POST', '/auth/account/end', 403, {}],
  ['the same', 'POST', '/auth/sign-out', 403, {}],
  ['the same', 'POST', '/wallet/charge-limit', 403, {}],
  ['the same', 'POST', '/auth/start/corp', 403, {}],
  ['the same', 'POST', '/console/keys', 403, {}],
  ['the same', 'POST', '/console/view', 403, {}],
  ['how the console looks', 'POST', '/console/view', 303, FORM],
] as const)('the new token goes along with %s (%s %s)', async (_, method, path, status, fields = {}) => {
  const { visitor, formToken } = await visitorOfYesterday();
  const old = visitor.cookies.get('qm_session');
  const sent = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === 'FORM_TOKEN' ? formToken : value]),
  );
  const answer = method === 'GET' ? await visitor.get(path) : await visitor.post(path, sent);
  expect(answer.status).toBe(status);
  expect(visitor.cookies.get('qm_session')).not.toBe(old);
  await service.advance(61);
  expect((await visitor.get('/auth/account')).status, 'signed in after the old token has died').toBe(200);
});

test('the new token goes along with a failure', async () => {
  const { visitor, accountId } = await visitorOfYesterday();
  const operator = await createTestOperator(service.core);
  const suspended = { account_id: accountId, suspended: true };
  const act = client(service.url, operator.secret);
  expect((await act('PATCH', '/v1/operator/accounts/update', suspended)).status).toBe(200);
  const old = visitor.cookies.get('qm_session');
  const answer = await visitor.get('/console');
  expect([answer.status, answer.text.includes('ACCOUNT_SUSPENDED')]).toEqual([403, true]);
  expect(visitor.cookies.get('qm_session')).not.toBe(old);
  await service.advance(61);
  expect((await visitor.get('/auth/account')).status).toBe(200);
});

test('a request that signs out, or signs in anew, is answered with that alone', async () => {
  const { visitor, formToken } = await visitorOfYesterday();
  const out = await visitor.post('/auth/sign-out', { form_token: formToken });
  expect(out.headers.getSetCookie().filter((cookie) => cookie.startsWith('qm_session='))).toEqual([
    expect.stringContaining('qm_session=; '),
  ]);
  expect((await visitor.get('/auth/account')).status).toBe(303);
});
