// What the operator does with accounts of others, over HTTP: who may, what it changes, and that it happens once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { invoke } from '../../src/gateway/invoke.ts';
import { createPerson, membersOf } from '../../src/people/persons.ts';
import { principalOf } from '../../src/people/sessions/principal.ts';
import { findSession, openSession, type SessionOwner } from '../../src/people/sessions/sessions.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { allEvents } from '../support/events.ts';
import { leaveCard } from '../support/leave-card.ts';
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
let second: TestService;
let operator: TestAccount;
let account: TestAccount;
let act: Client;
let call: Client;

beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  second = await startTestService({ database: service.database, env: { ROLES: 'web,render' } });
  operator = await createTestOperator(service.core);
  act = client(service.url, operator.secret);
});
afterAll(async () => {
  await second?.stop();
  await service?.stop();
});
beforeEach(async () => {
  account = await createTestAccount(service.core, 10);
  call = client(service.url, account.secret);
});

const codeOf = ({ status, body }: Awaited<ReturnType<Client>>) => [status, body.error?.code, body.error?.param];
const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;

describe('who may', () => {
  test('keys of other accounts cannot name scopes of the operator, however they are made', async () => {
    const { core } = service;
    for (const scope of ['operator', 'operator:read', 'operator.accounts.list']) {
      const scopes = ['queue', scope];
      expect(codeOf(await call('POST', '/v1/account/keys/create', { scopes }))).toEqual([
        ...[400, 'INVALID_SCOPE', 'scopes[1]'],
      ]);
      const { key_id: id } = (await call('POST', '/v1/account/keys/create', {})).body.data;
      expect(codeOf(await call('PATCH', `/v1/account/keys/update/${id}`, { scopes }))).toEqual([
        ...[400, 'INVALID_SCOPE', 'scopes[1]'],
      ]);
      const made = core.db.transaction(async (tx) => {
        const nowMs = await lockCaller(tx, account.accountId);
        const fields = { name: null, scopes, expiresAtMs: null, cap: null };
        return createKey(tx, core.secrets, account.accountId, fields, nowMs);
      });
      await expect(made).rejects.toMatchObject({ code: 'INVALID_SCOPE', param: 'scopes[1]' });
    }
  });

  test('a key for everything of the operator’s account may not, and gives nobody more; one with the scope does', async () => {
    const whole = (await act('POST', '/v1/account/keys/create', {})).body.data.key_secret;
    const plain = client(service.url, whole);
    expect(codeOf(await plain('GET', '/v1/operator/accounts/list'))).toEqual([403, 'INSUFFICIENT_SCOPE', undefined]);
    const wanted = { scopes: ['operator:read'] };
    expect((await plain('POST', '/v1/account/keys/create', wanted)).body.error.code).toBe('SCOPE_ESCALATION');
    const { key_secret } = (await act('POST', '/v1/account/keys/create', wanted)).body.data;
    const reader = client(service.url, key_secret);
    expect((await reader('GET', '/v1/operator/accounts/list')).status).toBe(200);
    const change = { account_id: account.accountId, kyc_status: 'rejected' };
    expect((await reader('POST', '/v1/operator/kyc/set', change)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('the operator’s session reads, and changes something within 15 minutes of its sign-in; an owner of the account does not', async () => {
    const { core } = service;
    const { gateway } = service.service;
    const sessionOf = async (owner: SessionOwner) => {
      const token = await core.db.transaction(async (tx) =>
        openSession(tx, owner, { remoteAddress: '192.0.2.1', agent: '' }, await clockNow(tx)),
      );
      return async (capability: string, input: object) => {
        const principal = await principalOf(core, (await findSession(core.db, token))?.session as never);
        const endpoint = gateway.endpoints.get(capability);
        if (typeof principal === 'string' || endpoint === undefined) throw new Error('no session');
        const { signal } = new AbortController();
        const asked = { endpoint, principal, input: { ...input }, entryForm: 'rest', idempotencyKey: null, signal };
        return (await invoke(gateway, asked as never)).problem?.code ?? 'done';
      };
    };
    const { accountId } = operator;
    const session = await sessionOf({ kind: 'operator', accountId });
    const change = { account_id: account.accountId, name: 'looked after' };
    expect(await session('operator.accounts.update', change)).toBe('done');
    const personId = await core.db.transaction((tx) =>
      createPerson(tx, { accountId, email: null, name: null, role: 'owner' }, Date.now()),
    );
    const owner = await sessionOf({ kind: 'person', personId, accountId });
    expect(await owner('operator.accounts.list', {})).toBe('INSUFFICIENT_SCOPE');
    await service.advance(16 * 60);
    expect(await session('operator.accounts.update', change)).toBe('REAUTHENTICATION_REQUIRED');
    expect(await session('operator.accounts.list', {})).toBe('done');
  });

  test('discovery lists the module for its keys only', async () => {
    const listed = async (asked: Client) => {
      const { modules, capabilities } = (await asked('GET', '/v1/discovery')).body.data;
      const names = [...modules.map(({ module }: { module: string }) => module)];
      return [names.includes('operator'), capabilities.some(({ id }: { id: string }) => id.startsWith('operator.'))];
    };
    expect([await listed(call), await listed(act), await listed(call)]).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
  });
});

describe('accounts', () => {
  const change = (body: object) =>
    act('PATCH', '/v1/operator/accounts/update', { account_id: account.accountId, ...body });
  const found = async (search: string) =>
    (
      await act('GET', `/v1/operator/accounts/list?${new URLSearchParams({ search, limit: '100' })}`)
    ).body.data.items.map(({ account_id }: { account_id: string }) => account_id);

  test('are found by how id, name or address begin, whatever stands in them', async () => {
    const make = (name: string, email: string) =>
      service.core.db.transaction((tx) => createAccount(tx, { name, email }));
    const first = await make('Nörd_100%', 'Anna@Finder.example');
    const other = await make('nordX100 2', 'b@other.example');
    expect(await found(first.slice(0, 24))).toEqual([first]);
    expect(await found('NöRD')).toEqual([first]);
    expect(await found('anna@FIND')).toEqual([first]);
    expect(await found('nörd_')).toEqual([first]);
    expect(await found('nord_')).toEqual([]);
    expect(await found('%')).toEqual([]);
    expect(await found('\\')).toEqual([]);
    expect(await found('nordx')).toEqual([other]);
  });

  test('are listed page by page, each once', async () => {
    const ids: string[] = [];
    let cursor = '';
    do {
      const query = new URLSearchParams({ limit: '2', ...(cursor === '' ? {} : { cursor }) });
      const { data } = (await act('GET', `/v1/operator/accounts/list?${query}`)).body;
      ids.push(...data.items.map(({ account_id }: { account_id: string }) => account_id));
      cursor = data.next_cursor ?? '';
    } while (cursor !== '');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([operator.accountId, account.accountId]));
  });

  test('what the operator changes is told to the account, as of no request, and shown', async () => {
    const { accountId } = account;
    const changes = { name: 'north', tier: 'pro', email: 'Ada@North.example' };
    expect((await change(changes)).body.data).toMatchObject({ ...changes, email_bound: true });
    const kyc = { account_id: accountId, kyc_status: 'pending' };
    expect((await act('POST', '/v1/operator/kyc/set', kyc)).body.data).toMatchObject({ kyc_status: 'pending' });
    const told = (await allEvents(call)).filter(({ type }) => type !== 'account.created');
    expect(told.map(({ type, request_id }) => [type, request_id]).sort()).toEqual([
      ...[
        ['account.updated', null],
        ['account.updated', null],
        ['account.updated', null],
      ],
      ['kyc.status_changed', null],
      ['tier.upgraded', null],
    ]);
    const shown = (await act('GET', `/v1/operator/accounts/get/${accountId}`)).body.data;
    expect(shown).toMatchObject({ ...changes, kyc_status: 'pending', balance: { balance_usd: 10, debt_usd: 0 } });
    // Whoever signs in by the address owns it, as nobody did.
    expect(shown.people).toMatchObject([{ role: 'owner', email: 'ada@north.example' }]);
    expect(await membersOf(service.core.db, accountId)).toHaveLength(1);
  });

  test('a suspension is in force everywhere when it is answered, and is lifted', async () => {
    const elsewhere = client(second.url, account.secret);
    for (const asked of [call, elsewhere]) expect((await asked('GET', '/v1/account/balance')).status).toBe(200);
    expect((await change({ suspended: true })).body.data.suspended).toBe(true);
    for (const asked of [call, elsewhere])
      expect(codeOf(await asked('GET', '/v1/account/balance')).slice(0, 2)).toEqual([403, 'ACCOUNT_SUSPENDED']);
    await change({ suspended: false });
    for (const asked of [call, elsewhere]) expect((await asked('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('the operator is not locked out, and what does not exist, or is no address, is told', async () => {
    const own = { account_id: operator.accountId, suspended: true };
    expect(codeOf(await change(own))).toEqual([409, 'STATE_CONFLICT', 'suspended']);
    const nobody = 'acct_email_1111111111111111111111';
    const answers = [
      await act('GET', `/v1/operator/accounts/get/${nobody}`),
      await change({ account_id: nobody, name: 'x' }),
      await act('POST', '/v1/operator/kyc/set', { account_id: nobody, kyc_status: 'verified' }),
      await act('POST', '/v1/operator/credit/grant', { account_id: nobody, amount_usd: 1 }),
    ];
    for (const answer of answers) expect(codeOf(answer)).toEqual([404, 'NOT_FOUND', 'account_id']);
    for (const email of ['x', 'a@b c', '"@example.org']) expect((await change({ email })).status).toBe(400);
  });
});

test('credit is given exactly, and once for an idempotency key, also when many ask at once', async () => {
  const give = (body: object) => act('POST', '/v1/operator/credit/grant', { account_id: account.accountId, ...body });
  const once = {
    amount_usd: 0.000000007,
    kind: 'promo',
    expires_days: 3,
    idempotency_key: `once ${account.accountId}`,
  };
  const answers = await Promise.all(Array.from({ length: 8 }, () => give(once)));
  const given = answers.filter(({ status }) => status === 200);
  expect(new Set(given.map(({ body }) => body.data.grant_id)).size).toBe(1);
  expect(given[0]?.body.data).toMatchObject({ kind: 'promo', amount_usd: 0.000000007, balance_usd: 10.000000007 });
  expect((await give({ amount_usd: 5 })).body.data).toMatchObject({ kind: 'paid', expires_at: null });
  expect(await balance()).toBe(15.000000007);
  expect(codeOf(await give({ amount_usd: 1e-10 }))).toEqual([400, 'VALIDATION_FAILED', 'amount_usd']);
  // That note is how trial credit is known.
  expect(codeOf(await give({ amount_usd: 5, note: 'sign-up credit' }))).toEqual([400, 'INVALID_REQUEST', 'note']);
  const patient = { db: service.core.db, secrets: null, modules: [] };
  expect(await examineAccount(patient, account.accountId)).toEqual([]);
});

describe('top-ups', () => {
  const statusOf = async (id: string) => (await call('GET', `/v1/account/topup/get/${id}`)).body.data.status;
  const decide = (verdict: string, id: string, body: object = {}) =>
    act('POST', `/v1/operator/topup/${verdict}`, { topup_id: id, ...body });

  async function reviewed(): Promise<string> {
    const { topup_id, checkout_url } = (await call('POST', '/v1/account/topup', { amount_usd: 20 })).body.data;
    await leaveCard(checkout_url, 'reviewed');
    await expect.poll(() => statusOf(topup_id)).toBe('review');
    return topup_id;
  }

  async function listed(query = ''): Promise<string[]> {
    const { items } = (await act('GET', `/v1/operator/topups/list?limit=100${query}`)).body.data;
    for (const item of items) expect(item.account_id).toMatch(/^acct_/);
    return items.map(({ topup_id }: { topup_id: string }) => topup_id);
  }

  test('under review are listed, and are credited or ended by a word, once', async () => {
    const [good, bad] = [await reviewed(), await reviewed()];
    expect(await listed()).toEqual([bad, good]);
    expect((await decide('approve', good)).body.data).toMatchObject({
      account_id: account.accountId,
      status: 'succeeded',
    });
    expect((await decide('reject', bad)).body.data).toMatchObject({ status: 'failed', failure_code: 'rejected' });
    expect(await balance()).toBe(30);
    expect(await listed()).toEqual([]);
    expect(await listed(`&account_id=${account.accountId}`)).toEqual([bad, good]);
    for (const verdict of ['approve', 'reject'])
      expect(codeOf(await decide(verdict, good)).slice(0, 2)).toEqual([409, 'STATE_CONFLICT']);
    for (const verdict of ['approve', 'reject', 'refund'])
      expect(codeOf(await decide(verdict, 'top_1111111111111111111111'))).toEqual([404, 'NOT_FOUND', 'topup_id']);
  });

  test('a refund is made once for its key, though its answer was lost', async () => {
    const id = await reviewed();
    await decide('approve', id);
    const part = { amount_usd: 5, idempotency_key: `refund ${id}` };
    expect((await decide('refund', id, part)).body.data).toMatchObject({ refunded_usd: 5 });
    // As if the process had died before it could keep the answer.
    const forget = { name: 'test_forget_answers', text: 'DELETE FROM core.idempotency WHERE account_id = $1' };
    await service.core.db.query(forget, [operator.accountId]);
    expect((await decide('refund', id, part)).body.data).toMatchObject({ refunded_usd: 5 });
    expect(await balance()).toBe(25);
    expect((await decide('refund', id)).body.data).toMatchObject({ refunded_usd: 20 });
    expect(codeOf(await decide('refund', id)).slice(0, 2)).toEqual([409, 'STATE_CONFLICT']);
    expect(await balance()).toBe(10);
  });
});

test('mail that is not sent is listed newest first, whole, and shown one by one', async () => {
  const to = ['first@example.org', 'second@example.org'];
  for (const email of to) await call('POST', '/v1/account/email/bind', { email });
  const { items } = (await act('GET', '/v1/operator/outbox/list?limit=2')).body.data;
  expect(items.map((mail: { to: string }) => mail.to)).toEqual([...to].reverse());
  const { data } = (await act('GET', `/v1/operator/outbox/get/${items[1].mail_id}`)).body;
  expect(data).toEqual(items[1]);
  expect(data.text).toMatch(/\b\d{6}\b/);
  const found = async (search: string) =>
    (await act('GET', `/v1/operator/outbox/list?search=${encodeURIComponent(search)}`)).body.data.items.map(
      (mail: { to: string }) => mail.to,
    );
  expect(await found('SECOND@')).toEqual(['second@example.org']);
  expect(await found(data.subject.slice(2).toUpperCase())).toContain(data.to);
  for (const nothing of ['%', '_', "'", 'third@']) expect([nothing, await found(nothing)]).toEqual([nothing, []]);
  const none = await act('GET', '/v1/operator/outbox/get/mail_1111111111111111111111');
  expect(codeOf(none)).toEqual([404, 'NOT_FOUND', 'mail_id']);
});
