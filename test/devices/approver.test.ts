// Whose word a device's key is: when the device fetches it, they must still be who may give it.
import { beforeAll, expect, test } from 'vitest';
import { operatorAccount } from '../../src/core/accounts/operator.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import type { Principal } from '../../src/core/callers/principal.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey, revokeKey, updateKey } from '../../src/core/keys/changes.ts';
import type { Transaction } from '../../src/db/database.ts';
import { approveDevice } from '../../src/people/devices/approve.ts';
import { readUserCode } from '../../src/people/devices/codes.ts';
import { findWaiting, pollDevice } from '../../src/people/devices/devices.ts';
import { guessersOf } from '../../src/people/devices/guesses.ts';
import { createPerson, removeMember, setMember } from '../../src/people/persons.ts';
import { principalOf } from '../../src/people/sessions/principal.ts';
import { endSession, findSession, openSession, type SessionOwner } from '../../src/people/sessions/sessions.ts';
import { createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
let accountId: string;
beforeAll(async () => {
  service = await sharedService();
  accountId = (await createTestAccount(service.core)).accountId;
});

/** What the device is told when `principal` approved it, and `then` happened. */
async function polledAfter(principal: Principal | string, then: () => Promise<unknown>): Promise<string> {
  const fields = new URLSearchParams({ client_id: 'an agent', scope: 'queue' });
  const asked = await fetch(`${service.url}/oauth/device_authorization`, { method: 'POST', body: fields });
  const { device_code, user_code } = await asked.json();
  const device = await findWaiting(service.core, readUserCode(user_code), guessersOf('somebody', 'here'));
  if (device === null || typeof device === 'number' || typeof principal === 'string') throw new Error('nobody waits');
  const wish = { scopes: ['queue'], lifetimeMs: null, cap: null };
  expect(await approveDevice(service.core, principal, device, wish)).toBeNull();
  await then();
  return (await pollDevice(service.core, device_code, 'an agent')).kind;
}

async function sessionOf(owner: SessionOwner) {
  const { db } = service.core;
  const token = await db.transaction(async (tx) =>
    openSession(tx, owner, { remoteAddress: '127.0.0.1', agent: 'a test' }, await clockNow(tx)),
  );
  const found = await findSession(db, token);
  if (found === null) throw new Error('the session is gone');
  return found.session;
}

test('the operator gives keys of the operator’s account', async () => {
  const own = await operatorAccount(service.core.db);
  const session = await sessionOf({ kind: 'operator', accountId: own ?? '' });
  expect(await polledAfter(await principalOf(service.core, session), async () => undefined)).toBe('key');
});

test('an owner who is removed, or made a viewer, gives nothing any more; signing out takes nothing back', async () => {
  const { core } = service;
  const { db } = core;
  const afterwards = async (then: (tx: Transaction, personId: string, sessionId: string) => Promise<unknown>) => {
    const owner = { accountId, email: null, name: null, role: 'owner' } as const;
    const personId = await db.transaction((tx) => createPerson(tx, owner, Date.now()));
    const session = await sessionOf({ kind: 'person', personId, accountId });
    return polledAfter(await principalOf(core, session), () =>
      db.transaction((tx) => then(tx, personId, session.sessionId)),
    );
  };
  const asViewer = (personId: string) => ({ personId, accountId, role: 'viewer' }) as const;
  expect(await afterwards((tx, _, sessionId) => endSession(tx, sessionId))).toBe('key');
  expect(await afterwards((tx, personId) => removeMember(tx, accountId, personId))).toBe('access_denied');
  expect(await afterwards((tx, personId) => setMember(tx, asViewer(personId), Date.now()))).toBe('access_denied');
});

test('a key that is revoked, or narrowed, gives nothing any more', async () => {
  const { db, secrets, keys } = service.core;
  const afterwards = async (then: (tx: Transaction, keyId: string, nowMs: number) => Promise<unknown>) => {
    const change = <T>(work: (tx: Transaction, nowMs: number) => Promise<T>) =>
      db.transaction(async (tx) => work(tx, await lockCaller(tx, accountId)));
    const fields = { name: null, scopes: ['account', 'queue'], expiresAtMs: null, cap: null };
    const { key, secret } = await change((tx, nowMs) => createKey(tx, secrets, accountId, fields, nowMs));
    return polledAfter(await keys.find(secret), () => change((tx, nowMs) => then(tx, key.keyId, nowMs)));
  };
  const narrowTo = (scopes: string[]) => (tx: Transaction, keyId: string, nowMs: number) =>
    updateKey(tx, accountId, keyId, { scopes }, nowMs);
  const revoke = (tx: Transaction, keyId: string, nowMs: number) => revokeKey(tx, accountId, keyId, 'requested', nowMs);
  expect(await afterwards(narrowTo(['account', 'queue', 'vector']))).toBe('key');
  expect(await afterwards(narrowTo(['account', 'queue:read']))).toBe('access_denied');
  expect(await afterwards(narrowTo(['queue']))).toBe('access_denied');
  expect(await afterwards(revoke)).toBe('access_denied');
});
