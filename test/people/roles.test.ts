// What each role may do, and who gives it: owners for their account, the operator for any.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { membersOf } from '../../src/people/persons.ts';
import type { roles } from '../../src/people/roles.ts';
import { personSession } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { createTestAccount, createTestOperator, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  // own service: it has an operator
  service = await startTestService();
});
afterAll(() => service?.stop());

async function person(accountId: string, role: (typeof roles)[number]): Promise<PageVisitor> {
  const visitor = new PageVisitor(service.url);
  const email = `${role}-${accountId.toLowerCase()}@example.org`;
  visitor.cookies.set('qm_session', await personSession(service.core, { email, name: role, role, accountId }));
  return visitor;
}

async function linkTo(email: string): Promise<string> {
  const mail = (await listMails(service.core.db, { limit: 100 })).find(({ to }) => to === email);
  return /\/auth\/mail\/[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '';
}

test.each([
  ['owner', { key: 200, queue: 303, budget: 303, invites: true }],
  ['admin', { key: 200, queue: 303, budget: 303, invites: false }],
  ['developer', { key: 403, queue: 303, budget: 403, invites: false }],
  ['billing', { key: 403, queue: 403, budget: 303, invites: false }],
  ['viewer', { key: 403, queue: 403, budget: 403, invites: false }],
] as const)('%s', async (role, may) => {
  const { accountId } = await createTestAccount(service.core, 5);
  const [owner, visitor] = [await person(accountId, 'owner'), await person(accountId, role)];
  // The form stands for an owner: whoever sends it, what counts is their role.
  const send = async (path: string, act: string, fields: Record<string, string>) => {
    const form_token = await visitor.formToken('/console/account');
    const [, form_key = ''] = /name="form_key" value="([^"]+)"/.exec((await owner.get(`${path}?new=1`)).text) ?? [];
    return (await visitor.post(path, { form_token, form_key, act, ...fields })).status;
  };
  expect({
    key: await send('/console/keys', 'create', { name: 'made', access: 'read' }),
    queue: await send('/console/queues', 'create', { name: 'jobs' }),
    budget: await send('/console/wallet', 'budget', { period: 'monthly', hard_cap_usd: '5', alert_threshold_usd: '' }),
    invites: (await visitor.get('/console/account')).text.includes('action="/auth/account/invite"'),
  }).toEqual(may);
});

test('an owner invites in each role, and the audit log says whom; an admin invites nobody', async () => {
  const { accountId } = await createTestAccount(service.core, 5);
  const owner = await person(accountId, 'owner');
  const email = `new-${accountId.toLowerCase()}@example.org`;
  const form_token = await owner.formToken('/console/account');
  expect((await owner.post('/auth/account/invite', { form_token, email, role: 'developer' })).status).toBe(200);
  const invited = new PageVisitor(service.url);
  expect((await invited.get(await linkTo(email))).text).toContain('as developer');
  expect((await invited.post(await linkTo(email), {})).status).toBe(303);
  expect((await membersOf(service.core.db, accountId)).map(({ role }) => role)).toEqual(['owner', 'developer']);
  const { text } = await owner.get('/console/audit');
  expect(text).toContain(`Invited ${email} as developer`);
  const admin = await person(accountId, 'admin');
  const token = await admin.formToken('/console/account');
  const refused = await admin.post('/auth/account/invite', {
    form_token: token,
    email: 'x@example.org',
    role: 'owner',
  });
  expect(refused.status).toBe(403);
});

test('the operator invites to any account, and an invitation of theirs holds', async () => {
  const { accountId } = await createTestAccount(service.core, 5);
  await createTestOperator(service.core);
  const operator = new PageVisitor(service.url);
  const { db } = service.core;
  const token = await db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  await operator.post(`/auth/operator/${token}`, {});
  expect((await operator.get('/console/account')).text).toContain('action="/auth/account/invite"');
  const page = await operator.get(`/console/operator/accounts/${accountId}`);
  expect(page.text).toContain(`name="account_id" value="${accountId}"`);
  const email = `op-${accountId.toLowerCase()}@example.org`;
  const form_token = await operator.formToken('/console/account');
  const sent = await operator.post('/auth/account/invite', { form_token, account_id: accountId, email, role: 'owner' });
  expect([sent.status, sent.text.includes(email)]).toEqual([200, true]);
  const invited = new PageVisitor(service.url);
  expect((await invited.post(await linkTo(email), {})).status).toBe(303);
  expect((await membersOf(service.core.db, accountId)).map(({ role }) => role)).toEqual(['owner']);
});
