// What must be so of an account before some calls are looked at: who is refused, in which order, and by whom it is lifted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { setEmail, setKycStatus, updateAccount } from '../../src/core/accounts/changes.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { invoke } from '../../src/gateway/invoke.ts';
import { createPerson } from '../../src/people/persons.ts';
import { principalOf } from '../../src/people/sessions/principal.ts';
import { findSession, openSession } from '../../src/people/sessions/sessions.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
});
afterAll(() => service?.stop());

interface Owner {
  readonly accountId: string;
  readonly call: Client;
  topup(input?: object): Promise<[number, string, string | undefined]>;
}

async function owner(scopes: string[] | null = null): Promise<Owner> {
  const { accountId, secret } = await createTestAccount(service.core, 0, scopes);
  const call = client(service.url, secret);
  return {
    accountId,
    call,
    async topup(input = {}) {
      const { status, body } = await call('POST', '/v1/account/topup', input);
      return [status, body.error?.code, body.error?.param];
    },
  };
}

/** What a session of the account, of somebody who has just signed in, is answered. */
async function session(accountId: string) {
  const { core } = service;
  const { gateway } = service.service;
  const token = await core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const personId = await createPerson(tx, { accountId, email: null, name: null, role: 'owner' }, nowMs);
    return openSession(tx, { kind: 'person', personId, accountId }, { remoteAddress: '192.0.2.1', agent: '' }, nowMs);
  });
  return async (capability: string, input: object) => {
    const found = await findSession(core.db, token);
    const principal = found === null ? 'unknown' : await principalOf(core, found.session);
    const endpoint = gateway.endpoints.get(capability);
    if (typeof principal === 'string' || endpoint === undefined) throw new Error('no session');
    const { signal } = new AbortController();
    const call = {
      endpoint,
      principal,
      input: { ...input },
      entryForm: 'rest',
      idempotencyKey: null,
      signal,
    } as const;
    const { status, problem } = await invoke(gateway, call);
    return [status, problem?.code];
  };
}

const unbind = (accountId: string) =>
  service.core.db.query(
    {
      name: 'test_unbind_gate',
      text: 'UPDATE core.account SET email = NULL, email_bound = false WHERE account_id = $1',
    },
    [accountId],
  );
const bad = { amount_usd: 'much' };

describe('a call whose account lacks something is refused', () => {
  test('in one order: scope, suspension, address, verification, and only then the input', async () => {
    const narrow = await owner(['queue']);
    await unbind(narrow.accountId);
    expect((await narrow.topup(bad)).slice(0, 2)).toEqual([403, 'INSUFFICIENT_SCOPE']);
    const { accountId, topup } = await owner();
    await unbind(accountId);
    const { db } = service.core;
    await db.transaction((tx) => setKycStatus(tx, accountId, 'required'));
    await db.transaction((tx) => setSuspended(tx, accountId, true));
    await service.core.processes.keyDropInForce();
    expect((await topup(bad)).slice(0, 2)).toEqual([403, 'ACCOUNT_SUSPENDED']);
    await db.transaction((tx) => setSuspended(tx, accountId, false));
    await expect.poll(async () => (await topup(bad)).slice(0, 2)).toEqual([403, 'EMAIL_BINDING_REQUIRED']);
    await db.transaction((tx) => setEmail(tx, accountId, 'ada@example.com'));
    expect((await topup(bad)).slice(0, 2)).toEqual([403, 'KYC_REQUIRED']);
    await db.transaction((tx) => setKycStatus(tx, accountId, 'verified'));
    expect(await topup(bad)).toEqual([400, 'VALIDATION_FAILED', 'amount_usd']);
    expect((await topup())[0]).toBe(200);
  });

  test.each([
    ['none', 200],
    ['verified', 200],
    ['required', 403],
    ['pending', 403],
    ['rejected', 403],
  ] as const)('verification %s: %i', async (status, expected) => {
    const { accountId, topup } = await owner();
    await service.core.db.transaction((tx) => setKycStatus(tx, accountId, status));
    expect((await topup())[0]).toBe(expected);
  });
});

test('who signed in more than 15 minutes ago signs in again before keys are changed; a key need not', async () => {
  const { accountId, call } = await owner();
  const ask = await session(accountId);
  expect(await ask('account.keys.create', { name: 'mine' })).toEqual([200, undefined]);
  await service.advance(14 * 60);
  expect(await ask('account.keys.create', {})).toEqual([200, undefined]);
  await service.advance(2 * 60);
  expect(await ask('account.keys.list', {})).toEqual([200, undefined]);
  expect(await ask('account.keys.create', { name: 7 })).toEqual([403, 'REAUTHENTICATION_REQUIRED']);
  expect((await call('POST', '/v1/account/keys/create', {})).status).toBe(200);
});

test('the account shows its address masked, and each change is told with what was before', async () => {
  const { accountId, call } = await owner();
  const { db } = service.core;
  await db.transaction((tx) => setEmail(tx, accountId, 'ada@example.com'));
  await db.transaction((tx) => setKycStatus(tx, accountId, 'pending'));
  await db.transaction((tx) => setKycStatus(tx, accountId, 'pending'));
  const changed = await call('PATCH', '/v1/account/update', { name: 'north', notifications: { email: false } });
  expect(changed.body.data).toMatchObject({ name: 'north', notifications: { email: false } });
  expect((await call('GET', '/v1/account/get')).body.data).toMatchObject({
    account_id: accountId,
    name: 'north',
    email: 'a•••@example.com',
    email_bound: true,
    kyc_status: 'pending',
    notifications: { email: false },
    purge_at: null,
    suspended: false,
  });
  const events = (await allEvents(call)).reverse();
  expect(events.flatMap(eventFaults)).toEqual([]);
  const told = events.filter(({ type }) => type !== 'account.created').map(({ type, data }) => [type, data.previous]);
  expect(told.slice(-2)).toEqual([
    ['kyc.status_changed', { kyc_status: 'none' }],
    ['account.updated', { name: expect.any(String) }],
  ]);
  expect(JSON.stringify(events)).not.toContain('ada@example.com');
});

test('a change that changes nothing is not told', async () => {
  const { accountId, call } = await owner();
  const before = (await allEvents(call)).length;
  await service.core.db.transaction((tx) => updateAccount(tx, accountId, {}, 'req_1'));
  await call('PATCH', '/v1/account/update', {});
  await call('PATCH', '/v1/account/update', { notifications: { email: false } });
  expect(await allEvents(call)).toHaveLength(before);
});
