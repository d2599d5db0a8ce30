// Invitations: only an owner of the account gives them, and they hold only as long as whoever gave them owns it. What ends that is true in
// the commit of the acceptance too.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import type { Transaction } from '../../src/db/database.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { createPerson, EMAIL, findByIdentity, membersMax, membersOf, setMember } from '../../src/people/persons.ts';
import { removePerson } from '../../src/people/remove-person.ts';
import { endSessionsOf } from '../../src/people/sessions/sessions.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { PageVisitor, type Visit } from '../support/page-visitor.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  // own service: looks at all locks
  service = await startTestService();
});
afterAll(() => service?.stop());

let last = 0;
function newAddress(name: string): string {
  last += 1;
  return `${name}${last}@example.org`;
}

async function linkTo(email: string): Promise<string> {
  const mail = (await listMails(service.core.db, { limit: 100 })).find(({ to }) => to === email);
  return /\/auth\/mail\/[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '';
}

async function accepted(email: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(service.url);
  expect(await visitor.post(await linkTo(email), {})).toMatchObject({ status: 303 });
  return visitor;
}

async function act(visitor: PageVisitor, path: string, fields: Record<string, string>): Promise<Visit> {
  return visitor.post(path, { ...fields, form_token: await visitor.formToken('/auth/account') });
}

const inviteTo = (visitor: PageVisitor, email: string, role = 'owner') =>
  act(visitor, '/auth/account/invite', { email, role });

async function personIdOf(email: string): Promise<string> {
  return (await findByIdentity(service.core.db, { issuer: EMAIL, subject: email }))?.personId ?? '';
}

/** An account with an owner and a second one, who has invited a further address as an owner. */
async function shared() {
  const [owner, second, further] = [newAddress('owner'), newAddress('second'), newAddress('further')];
  const first = new PageVisitor(service.url);
  await first.post('/auth/mail', { email: owner });
  await first.post(await linkTo(owner), {});
  const { accountId } = (await findByIdentity(service.core.db, { issuer: EMAIL, subject: owner })) ?? { accountId: '' };
  await inviteTo(first, second);
  const other = await accepted(second);
  expect((await inviteTo(other, further)).status).toBe(200);
  return { accountId, first, other, further, firstId: await personIdOf(owner), otherId: await personIdOf(second) };
}

async function people(accountId: string): Promise<(string | null)[]> {
  return (await membersOf(service.core.db, accountId)).map(({ email }) => email);
}

/** What `change` commits while the request waits for the account. */
async function overtaken(
  accountId: string,
  request: () => Promise<Visit>,
  change: (tx: Transaction) => Promise<unknown>,
) {
  const { db } = service.core;
  let answer: Promise<Visit> | undefined;
  await db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    answer = request();
    await vi.waitFor(async () => expect(await lockWaiters(db)).toBe(1), { timeout: 50_000, interval: 10 });
    await change(tx);
  });
  return answer as Promise<Visit>;
}

test('whoever is removed from an account brings nobody into it: their invitations end', async () => {
  const { accountId, first, otherId, further } = await shared();
  const link = await linkTo(further);
  expect((await act(first, '/auth/account/remove', { person_id: otherId })).status).toBe(200);
  const stranger = new PageVisitor(service.url);
  expect((await stranger.get(link)).status).toBe(404);
  expect((await stranger.post(link, {})).status).toBe(404);
  expect(stranger.cookies.has('qm_session')).toBe(false);
  expect(await people(accountId)).toHaveLength(1);
});

test('an invitation accepted while whoever gave it is removed makes nobody a member', async () => {
  const { accountId, otherId, further } = await shared();
  const [link, stranger] = [await linkTo(further), new PageVisitor(service.url)];
  const late = await overtaken(
    accountId,
    () => stranger.post(link, {}),
    (tx) => removePerson(tx, accountId, otherId),
  );
  expect(late.status).toBe(404);
  expect(await people(accountId)).toHaveLength(1);
});

test('an invitation of somebody who is a viewer by now is none; an owner’s goes on', async () => {
  const { accountId, first, otherId, further } = await shared();
  const { db } = service.core;
  await db.transaction(async (tx) =>
    setMember(tx, { personId: otherId, accountId, role: 'viewer' }, await clockNow(tx)),
  );
  const stranger = new PageVisitor(service.url);
  const link = await linkTo(further);
  expect([(await stranger.get(link)).status, (await stranger.post(link, {})).status]).toEqual([404, 404]);
  const guest = newAddress('guest');
  await inviteTo(first, guest, 'viewer');
  await accepted(guest);
  expect(await people(accountId)).toContain(guest);
});

test.each([
  ['who is removed', (tx: Transaction, accountId: string, personId: string) => removePerson(tx, accountId, personId)],
  ['who signs out everywhere', (tx: Transaction, _: string, personId: string) => endSessionsOf(tx, personId)],
])('an invitation, or a removal, on its way from somebody %s meanwhile has no effect', async (_, end) => {
  for (const path of ['invite', 'remove']) {
    const { accountId, other, firstId, otherId } = await shared();
    const before = await people(accountId);
    const email = newAddress('planted');
    const form_token = await other.formToken('/auth/account');
    const fields = { email, role: 'owner', person_id: firstId, form_token };
    const late = await overtaken(
      accountId,
      () => other.post(`/auth/account/${path}`, fields),
      (tx) => end(tx, accountId, otherId),
    );
    expect(late.status).toBe(403);
    expect(await linkTo(email)).toBe('');
    expect(before).toEqual(expect.arrayContaining(await people(accountId)));
    expect(await personIdOf(before[0] ?? '')).toBe(firstId);
    expect((await people(accountId))[0]).toBe(before[0]);
  }
});

test('pending invitations stand on the page of the account, and an owner cancels them', async () => {
  const { accountId, first, other, further } = await shared();
  const guest = newAddress('guest');
  await inviteTo(first, guest, 'viewer');
  const viewer = await accepted(guest);
  const shown = await first.get('/auth/account');
  expect(shown.text).toContain(further);
  expect(shown.text).not.toContain(`${guest}, viewer, invited`);
  const invitation = /name="invitation" value="([^"]+)"/.exec(shown.text)?.[1] ?? '';
  const cancel = (visitor: PageVisitor) => act(visitor, '/auth/account/cancel-invitation', { invitation });
  expect((await viewer.get('/auth/account')).text).not.toContain('name="invitation"');
  expect((await cancel(viewer)).status).toBe(403);
  const elsewhere = await shared();
  expect((await cancel(elsewhere.other)).status).toBe(409);
  expect((await cancel(other)).status).toBe(200);
  expect((await cancel(first)).status).toBe(409);
  expect((await new PageVisitor(service.url).post(await linkTo(further), {})).status).toBe(404);
  expect((await first.get('/auth/account')).text).not.toContain(further);
  expect(await people(accountId)).toHaveLength(3);
});

test('an account that is full by now takes nobody more in; with room again the invitation holds', async () => {
  const { accountId, further } = await shared();
  const { db } = service.core;
  const missing = membersMax - (await people(accountId)).length;
  const added = await db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const one = { accountId, email: null, name: 'One of many', role: 'viewer' as const };
    return Promise.all(Array.from({ length: missing }, () => createPerson(tx, one, nowMs)));
  });
  const stranger = new PageVisitor(service.url);
  const link = await linkTo(further);
  expect((await stranger.post(link, {})).status).toBe(409);
  await db.transaction((tx) => removePerson(tx, accountId, added[0] ?? ''));
  expect((await stranger.post(link, {})).status).toBe(303);
  expect(await people(accountId)).toHaveLength(membersMax);
});

test('whoever leaves is asked which keys end with that, and both happen or neither', async () => {
  const { accountId, first, other, further } = await shared();
  const { db, secrets } = service.core;
  const made = async (name: string) =>
    db.transaction(async (tx) => {
      const nowMs = (await lockAccount(tx, accountId)) as number;
      return createKey(tx, secrets, accountId, { name, scopes: null, expiresAtMs: null, cap: null }, nowMs);
    });
  const [mine, shop] = [await made('my own'), await made('the shop')];
  const works = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await fetch(`${service.url}/v1/account/balance`, { headers })).status;
  };
  const page = await other.get('/auth/account/leave');
  for (const text of ['my own', 'the shop', mine.key.last4, accountId]) expect(page.text).toContain(text);
  expect((await first.get('/auth/account')).text).toContain('href="/auth/account/leave"');
  const left = await act(other, '/auth/account/leave', { key: mine.key.keyId });
  expect([left.status, left.location]).toEqual([303, '/auth']);
  expect([await works(mine.secret), await works(shop.secret)]).toEqual([401, 200]);
  expect(await people(accountId)).toHaveLength(1);
  expect((await new PageVisitor(service.url).get(await linkTo(further))).status).toBe(404);
  const last = await act(first, '/auth/account/leave', { key: shop.key.keyId });
  expect([last.status, await works(shop.secret)]).toEqual([409, 200]);
  const guest = newAddress('guest');
  await inviteTo(first, guest, 'viewer');
  const viewer = await accepted(guest);
  expect((await viewer.get('/auth/account/leave')).text).not.toContain('the shop');
  expect((await act(viewer, '/auth/account/leave', { key: shop.key.keyId })).status).toBe(409);
  expect(await works(shop.secret)).toBe(200);
  expect((await act(viewer, '/auth/account/leave', {})).status).toBe(303);
  expect(await people(accountId)).toHaveLength(1);
});
