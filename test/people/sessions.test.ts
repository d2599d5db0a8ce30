// Sessions by the test clock, and on two processes: how long they live, what they may do, and that an ended one does nothing more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type Principal, readLivePrincipals } from '../../src/core/callers/principal.ts';
import { scopesAllow } from '../../src/core/callers/scopes.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { textArray } from '../../src/db/arrays.ts';
import { ask } from '../../src/people/asked.ts';
import {
  addIdentity,
  createPerson,
  EMAIL,
  findByIdentity,
  membershipsOf,
  ownerAddresses,
  peopleRecords,
  removeMember,
  setHome,
  setMember,
} from '../../src/people/persons.ts';
import { peopleRetention } from '../../src/people/retention.ts';
import type { Role } from '../../src/people/roles.ts';
import { principalOf } from '../../src/people/sessions/principal.ts';
import {
  endSession,
  endSessionsIn,
  endSessionsOf,
  findSession,
  formToken,
  isFormToken,
  isRecent,
  openSession,
  type Session,
  sessionsOf,
  switchAccount,
} from '../../src/people/sessions/sessions.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let second: TestService;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  second = await startTestService({ database: service.database });
});
afterAll(async () => {
  await second?.stop();
  await service?.stop();
});

const device = { remoteAddress: '192.0.2.1', agent: 'Browser/1' };

async function somebody(role: Role = 'owner') {
  const { db } = service.core;
  return db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const accountId = await createAccount(tx, { name: 'of people' });
    const personId = await createPerson(tx, { accountId, email: 'ada@example.org', name: null, role }, nowMs);
    const token = await openSession(tx, { kind: 'person', personId, accountId }, device, nowMs);
    return { accountId, personId, token };
  });
}

async function found(token: string, at: TestService = service): Promise<Session> {
  const result = await findSession(at.core.db, token);
  if (result === null) throw new Error('there is no session');
  return result.session;
}

async function acting(token: string): Promise<Principal> {
  const principal = await principalOf(service.core, await found(token));
  if (typeof principal === 'string') throw new Error(principal);
  return principal;
}

test('a session is used by its token alone, of which the database keeps a hash', async () => {
  const { token, personId } = await somebody();
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(await found(token)).toMatchObject({ personId, kind: 'person', role: 'owner', ...device });
  for (const other of ['', 'x', token.slice(1), `${token}A`, token.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))])
    expect(await findSession(service.core.db, other)).toBeNull();
  const { rows } = await service.core.db.query<{ row: string }>(
    { name: 'test_sessions', text: 'SELECT row_to_json(s)::text AS row FROM core.session s' },
    [],
  );
  expect(rows.some(({ row }) => row.includes(token))).toBe(false);
});

test('daily the token is replaced, once; the old one lives for a minute more', async () => {
  const { token } = await somebody();
  const { db } = service.core;
  await service.advance(11 * 3_600);
  await found(token);
  await service.advance(11 * 3_600);
  await found(token);
  await service.advance(2 * 3_600);
  const asked = await Promise.all([findSession(db, token), findSession(second.core.db, token)]);
  const fresh = asked.flatMap((each) => (each === null || each.newToken === null ? [] : [each.newToken]));
  expect(fresh).toHaveLength(1);
  const [next = ''] = fresh;
  expect((await found(next)).sessionId).toBe((await found(token)).sessionId);
  await service.advance(61);
  expect(await findSession(db, token)).toBeNull();
  expect((await found(next)).personId).not.toBeNull();
});

test('a session ends after 12 hours without use, and after 30 days in any case', async () => {
  const { db } = service.core;
  const idle = await somebody();
  const used = await somebody();
  await service.advance(12 * 3_600 - 60);
  let { token } = used;
  await found(token);
  await service.advance(61);
  expect(await findSession(db, idle.token)).toBeNull();
  for (let hours = 12; hours < 30 * 24 - 11; hours += 11) {
    token = (await findSession(db, token))?.newToken ?? token;
    await service.advance(11 * 3_600);
  }
  await found(token);
  await service.advance(11 * 3_600);
  expect(await findSession(db, token)).toBeNull();
  await peopleRetention(db).run(new AbortController().signal);
  expect(await sessionsOf(db, used.personId)).toEqual([]);
});

test('what was ended on one process is over on another before that is answered', async () => {
  const { token, personId, accountId } = await somebody();
  const elsewhere = await found(token, second);
  await endSession(service.core.db, elsewhere.sessionId);
  expect(await findSession(second.core.db, token)).toBeNull();
  const tokens = await service.core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const open = () => openSession(tx, { kind: 'person', personId, accountId }, device, nowMs);
    return [await open(), await open()];
  });
  await endSessionsOf(service.core.db, personId);
  for (const each of tokens) expect(await findSession(second.core.db, each)).toBeNull();
});

test('an owner may do everything but operate, a viewer reads', async () => {
  const owner = await acting((await somebody()).token);
  expect(owner.scopes).toBeNull();
  const { scopes } = await acting((await somebody('viewer')).token);
  expect(scopesAllow(scopes, 'queue.list', 'read')).toBe(true);
  expect(scopesAllow(scopes, 'queue.publish', 'write')).toBe(false);
  expect(scopesAllow(scopes, 'account.keys.create', 'admin')).toBe(false);
  for (const each of [owner.scopes, scopes]) expect(scopesAllow(each, 'operator.accounts.list', 'read')).toBe(false);
});

test('under the locks of a change an ended session, or a person who was removed, is nobody', async () => {
  const { db } = service.core;
  const live = async (principal: Principal) =>
    (await readLivePrincipals(db, textArray([principal.accountId]), [principal])).get(principal);
  const first = await somebody();
  const principal = await acting(first.token);
  expect(await live(principal)).toMatchObject({ id: first.personId, ended: null });
  await endSession(db, (await found(first.token)).sessionId);
  expect(await live(principal)).toBeUndefined();
  expect(await principal.kind.again(principal)).toBe('unknown');

  const other = await somebody();
  const removed = await acting(other.token);
  const stays = await somebody();
  await db.transaction(async (tx) => {
    await setMember(tx, { personId: stays.personId, accountId: other.accountId, role: 'owner' }, await clockNow(tx));
    expect(await removeMember(tx, other.accountId, other.personId)).toBe(true);
  });
  expect(await live(removed)).toBeUndefined();
});

test('an account keeps an owner, also when two are removed at once', async () => {
  const { db } = service.core;
  const [one, two] = [await somebody(), await somebody()];
  const { accountId } = one;
  await db.transaction(async (tx) =>
    setMember(tx, { personId: two.personId, accountId, role: 'owner' }, await clockNow(tx)),
  );
  const removed = await Promise.all(
    [one, two].map(({ personId }) => db.transaction((tx) => removeMember(tx, accountId, personId))),
  );
  expect(removed.sort()).toEqual([false, true]);
  expect(await ownerAddresses(db, accountId)).toEqual(['ada@example.org']);
  expect(await peopleRecords(db, accountId)).toEqual([
    expect.objectContaining({ email: 'a•••@example.org', role: 'owner' }),
  ]);
});

test('a form token is of its session alone, and a sign-in is recent for 15 minutes', async () => {
  const { secrets } = service.core;
  const { token } = await somebody();
  const [own, other] = [await found(token), await found((await somebody()).token)];
  expect(isFormToken(secrets, own, formToken(secrets, own))).toBe(true);
  expect(isFormToken(secrets, own, formToken(secrets, other))).toBe(false);
  expect(isFormToken(secrets, own, '')).toBe(false);
  expect(isRecent(own)).toBe(true);
  await service.advance(15 * 60);
  expect(isRecent(await found(token))).toBe(false);
});

test('an identity is of one person, whoever else claims it, and a person moves between accounts', async () => {
  const { db } = service.core;
  const [one, two] = [await somebody(), await somebody()];
  const identity = { issuer: EMAIL, subject: 'once@example.org' };
  const claims = await Promise.all(
    [one, two].map(({ personId }) =>
      db.transaction(async (tx) => addIdentity(tx, identity, { personId }, await clockNow(tx))),
    ),
  );
  expect(claims.filter((isTheirs) => isTheirs)).toHaveLength(1);
  expect((await findByIdentity(db, identity))?.personId).toBe(claims[0] === true ? one.personId : two.personId);
  expect(await findByIdentity(db, { issuer: 'other', subject: 'once@example.org' })).toBeNull();

  const { personId, token } = one;
  await db.transaction(async (tx) => {
    await setMember(tx, { personId, accountId: two.accountId, role: 'viewer' }, await clockNow(tx));
    await setHome(tx, personId, two.accountId);
  });
  expect((await membershipsOf(db, personId)).map(({ role }) => role)).toEqual(['owner', 'viewer']);
  await switchAccount(db, (await found(token)).sessionId, two.accountId);
  expect(await found(token)).toMatchObject({ accountId: two.accountId, role: 'viewer' });
  await endSessionsIn(db, personId, two.accountId);
  expect(await findSession(db, token)).toBeNull();
});

test('what is asked for too often is told how long to wait, exactly under concurrency', async () => {
  const { db } = service.core;
  const bound = { times: 5, windowMs: 3_600_000 };
  const nowMs = await clockNow(db);
  const waits = await Promise.all(Array.from({ length: 12 }, () => ask(db, 'mail to ada', bound, nowMs)));
  expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(5);
  expect(Math.max(...waits)).toBe(3_600_000);
  expect(await ask(db, 'mail to ada', bound, nowMs + 3_600_000)).toBe(0);
});
