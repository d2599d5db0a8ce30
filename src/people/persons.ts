// SQL of persons, their identities, and their memberships in accounts. What each role may do in an account: roles.ts.

import { findAccount } from '../core/accounts/accounts.ts';
import { maskedEmail } from '../core/accounts/masked-email.ts';
import { textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import type { Role } from './roles.ts';

/** Issuer of identities that are addresses. */
export const EMAIL = 'email';

export interface Person {
  readonly personId: string;
  /** The account that a new session is for. */
  readonly accountId: string;
  /** Where mail to the person goes, in lower case; somebody has shown that it is theirs. */
  readonly email: string | null;
  readonly name: string | null;
}

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export interface Member {
  readonly personId: string;
  readonly accountId: string;
  readonly role: Role;
  readonly email: string | null;
  readonly name: string | null;
}

interface PersonRow {
  readonly person_id: string;
  readonly account_id: string;
  readonly email: string | null;
  readonly name: string | null;
}

const columns = 'p.person_id, p.account_id, p.email, p.name';
const selectPerson = statement('person_select', `SELECT ${columns} FROM core.person p WHERE p.person_id = $1`);
const selectByIdentity = statement(
  'person_select_by_identity',
  `SELECT ${columns} FROM core.identity i JOIN core.person p ON p.person_id = i.person_id WHERE i.issuer = $1 AND i.subject = $2`,
);
const insertIdentity = statement(
  'identity_insert',
  `INSERT INTO core.identity (issuer, subject, person_id, account_id, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (issuer, subject) DO NOTHING`,
);
const insertPerson = statement(
  'person_insert',
  'INSERT INTO core.person (person_id, account_id, email, name, created_at) VALUES ($1, $2, $3, $4, $5)',
);
const updateHome = statement('person_update_account', 'UPDATE core.person SET account_id = $2 WHERE person_id = $1');
const upsertMember = statement(
  'member_upsert',
  `INSERT INTO core.member (person_id, account_id, role, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (person_id, account_id) DO UPDATE SET role = excluded.role`,
);
const deleteMember = statement('member_delete', 'DELETE FROM core.member WHERE person_id = $1 AND account_id = $2');
const memberColumns = 'm.person_id, m.account_id, m.role, p.email, p.name';
const selectMembers = statement(
  'member_select_of_account',
  `SELECT ${memberColumns} FROM core.member m JOIN core.person p ON p.person_id = m.person_id
    WHERE m.account_id = $1 ORDER BY m.created_at, m.person_id LIMIT $2`,
);
const selectMemberships = statement(
  'member_select_of_person',
  `SELECT ${memberColumns} FROM core.member m JOIN core.person p ON p.person_id = m.person_id
    WHERE m.person_id = $1 ORDER BY m.created_at, m.account_id LIMIT $2`,
);
const lockMembers = statement(
  'member_lock',
  'SELECT m.person_id, m.role FROM core.member m WHERE m.account_id = $1 ORDER BY m.person_id FOR UPDATE',
);

const lockOwnerRow = statement(
  'member_lock_owner',
  `SELECT m.role FROM core.member m WHERE m.account_id = $1 AND m.person_id = $2 AND m.role = 'owner' FOR SHARE`,
);
const lockPersonRows = statement(
  'person_lock',
  'SELECT p.person_id FROM core.person p WHERE p.person_id = ANY($1::text[]) ORDER BY p.person_id FOR UPDATE',
);

/** People of an account, and accounts of a person, at most. */
export const membersMax = 50;

type MemberRow = Pick<PersonRow, 'person_id' | 'account_id' | 'email' | 'name'> & { readonly role: Role };

export async function findPerson(db: Queryable, personId: string): Promise<Person | null> {
  return firstOf((await db.query<PersonRow>(selectPerson, [personId])).rows);
}

/** Who is known by the identity; null: nobody yet. */
export async function findByIdentity(db: Queryable, { issuer, subject }: Identity): Promise<Person | null> {
  return firstOf((await db.query<PersonRow>(selectByIdentity, [issuer, subject])).rows);
}

/** Makes a person who acts for the account, known by nothing yet. Answers its id: a new one unless it is given. */
export async function createPerson(
  tx: Transaction,
  {
    personId = newId('pers_'),
    accountId,
    email,
    name,
    role,
  }: Omit<Member, 'personId'> & { readonly personId?: string },
  nowMs: number,
): Promise<string> {
  const now = timestamp(nowMs);
  await tx.query(insertPerson, [personId, accountId, email, name, now]);
  await tx.query(upsertMember, [personId, accountId, role, now]);
  return personId;
}

/** False: it is somebody's already. */
export async function addIdentity(
  tx: Transaction,
  { issuer, subject }: Identity,
  { personId, madeAccountId = null }: { readonly personId: string; readonly madeAccountId?: string | null },
  nowMs: number,
): Promise<boolean> {
  return (await tx.query(insertIdentity, [issuer, subject, personId, madeAccountId, timestamp(nowMs)])).count === 1;
}

/** Lets the person act for the account, in this role from now on. */
export async function setMember(
  tx: Transaction,
  member: Pick<Member, 'personId' | 'accountId' | 'role'>,
  nowMs: number,
) {
  await tx.query(upsertMember, [member.personId, member.accountId, member.role, timestamp(nowMs)]);
}

/** The person's next session is for this account. */
export async function setHome(tx: Transaction, personId: string, accountId: string): Promise<void> {
  await tx.query(updateHome, [personId, accountId]);
}

/** The person acts no more for the account. Answers false, and changes nothing, when nobody would own it then. */
export async function removeMember(tx: Transaction, accountId: string, personId: string): Promise<boolean> {
  const { rows } = await tx.query<{ person_id: string; role: Role }>(lockMembers, [accountId]);
  if (!rows.some((row) => row.role === 'owner' && row.person_id !== personId)) return false;
  await tx.query(deleteMember, [personId, accountId]);
  return true;
}

/** Whether the person owns the account, and does until the end of the transaction. */
export async function lockOwner(tx: Transaction, accountId: string, personId: string): Promise<boolean> {
  return (await tx.query(lockOwnerRow, [accountId, personId])).count === 1;
}

/** Answers how many of them there are. */
export async function lockPersons(tx: Transaction, personIds: readonly string[]): Promise<number> {
  return (await tx.query(lockPersonRows, [textArray(personIds)])).count;
}

/** The people of an account, the first one first. */
export async function membersOf(db: Queryable, accountId: string): Promise<Member[]> {
  return (await db.query<MemberRow>(selectMembers, [accountId, membersMax])).rows.map(memberOf);
}

/** What a person may act for, the first one first. */
export async function membershipsOf(db: Queryable, personId: string): Promise<Member[]> {
  return (await db.query<MemberRow>(selectMemberships, [personId, membersMax])).rows.map(memberOf);
}

/** Where mail to who owns the account goes: to its bound address and to those of its owners. */
export async function ownerAddresses(db: Queryable, accountId: string): Promise<string[]> {
  const [account, members] = await Promise.all([findAccount(db, accountId), membersOf(db, accountId)]);
  const bound = account?.emailBound === true ? account.email : null;
  const owners = members.filter(({ role }) => role === 'owner').map(({ email }) => email);
  return [...new Set([bound, ...owners].filter((email) => email !== null))];
}

/** The people of an account as its calls show them: addresses are masked. */
export async function peopleRecords(db: Queryable, accountId: string) {
  return (await membersOf(db, accountId)).map(({ personId, role, email, name }) => ({
    person_id: personId,
    role,
    name,
    email: email === null ? null : maskedEmail(email),
  }));
}

function firstOf([row]: readonly PersonRow[]): Person | null {
  if (row === undefined) return null;
  return { personId: row.person_id, accountId: row.account_id, email: row.email, name: row.name };
}

function memberOf({ person_id, account_id, role, email, name }: MemberRow): Member {
  return { personId: person_id, accountId: account_id, role, email, name };
}
