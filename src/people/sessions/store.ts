// SQL of sessions. No process caches them: a session that ends is over everywhere at once.

import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Role } from '../roles.ts';

export type SessionKind = 'person' | 'key' | 'operator';

export interface SessionRow {
  readonly session_id: string;
  readonly account_id: string;
  readonly kind: SessionKind;
  readonly person_id: string | null;
  readonly secret_hash: Buffer | null;
  readonly token_hash: Buffer;
  readonly previous_until: number | null;
  readonly signed_in_at: number;
  readonly rotated_at: number;
  readonly seen_at: number;
  readonly remote_address: string;
  readonly agent: string;
  /** Of the person in the account; null: it may not act for it, or it is nobody's. */
  readonly role: Role | null;
  readonly now: number;
}

const columns = `s.session_id, s.account_id, s.kind, s.person_id, s.secret_hash, s.token_hash, s.previous_until, s.signed_in_at,
          s.rotated_at, s.seen_at, s.remote_address, s.agent, m.role, core.clock_now() AS now`;
const tables = `core.session s
     LEFT JOIN core.member m ON m.person_id = s.person_id AND m.account_id = s.account_id`;
const selectByToken = statement(
  'session_select_by_token',
  `SELECT ${columns} FROM ${tables} WHERE s.token_hash = $1 OR s.previous_hash = $1`,
);
const selectByIds = statement(
  'session_select_by_ids',
  `SELECT ${columns} FROM ${tables} WHERE s.session_id = ANY($1::text[])`,
);
const selectOfPerson = statement(
  'session_select_of_person',
  `SELECT ${columns} FROM ${tables} WHERE s.person_id = $1 ORDER BY s.seen_at DESC LIMIT 100`,
);
const insertSession = statement(
  'session_insert',
  `INSERT INTO core.session (session_id, account_id, kind, person_id, secret_hash, token_hash, signed_in_at, rotated_at, seen_at, remote_address, agent)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, $8, $9)`,
);
const rotateToken = statement(
  'session_rotate',
  `UPDATE core.session SET token_hash = $3, previous_hash = $2, previous_until = $5, rotated_at = $4, seen_at = $4
    WHERE session_id = $1 AND token_hash = $2`,
);
const touchSession = statement(
  'session_touch',
  'UPDATE core.session SET seen_at = $2 WHERE session_id = $1 AND seen_at < $2',
);
const updateAccount = statement(
  'session_update_account',
  'UPDATE core.session SET account_id = $2 WHERE session_id = $1',
);
const deleteSession = statement('session_delete', 'DELETE FROM core.session WHERE session_id = $1');
const deleteOfPerson = statement('session_delete_of_person', 'DELETE FROM core.session WHERE person_id = $1');
const deleteOfMember = statement(
  'session_delete_of_member',
  'DELETE FROM core.session WHERE person_id = $1 AND account_id = $2',
);
const deleteOld = statement('session_delete_old', 'DELETE FROM core.session WHERE seen_at <= $1 OR signed_in_at <= $2');

export interface NewSession {
  readonly sessionId: string;
  readonly accountId: string;
  readonly kind: SessionKind;
  readonly personId: string | null;
  readonly secretHash: Buffer | null;
  readonly tokenHash: Buffer;
  readonly remoteAddress: string;
  readonly agent: string;
}

export async function insert(tx: Queryable, session: NewSession, nowMs: number): Promise<void> {
  const { sessionId, accountId, kind, personId, secretHash, tokenHash, remoteAddress, agent } = session;
  await tx.query(insertSession, [
    ...[sessionId, accountId, kind, personId, secretHash, tokenHash, timestamp(nowMs)],
    ...[remoteAddress, agent],
  ]);
}

/** By its token, or the one before. */
export async function findByToken(db: Queryable, tokenHash: Buffer): Promise<SessionRow | null> {
  return (await db.query<SessionRow>(selectByToken, [tokenHash])).rows[0] ?? null;
}

export async function findByIds(db: Queryable, sessionIds: readonly string[]): Promise<SessionRow[]> {
  return [...(await db.query<SessionRow>(selectByIds, [textArray(sessionIds)])).rows];
}

export async function findOfPerson(db: Queryable, personId: string): Promise<SessionRow[]> {
  return [...(await db.query<SessionRow>(selectOfPerson, [personId])).rows];
}

/** False: another request was first. */
export async function rotate(
  db: Queryable,
  { session_id, token_hash, now }: SessionRow,
  newHash: Buffer,
  previousUntilMs: number,
): Promise<boolean> {
  const values = [session_id, token_hash, newHash, timestamp(now), timestamp(previousUntilMs)];
  return (await db.query(rotateToken, values)).count === 1;
}

export async function touch(db: Queryable, { session_id, now }: SessionRow): Promise<void> {
  await db.query(touchSession, [session_id, timestamp(now)]);
}

export async function moveTo(db: Queryable, sessionId: string, accountId: string): Promise<void> {
  await db.query(updateAccount, [sessionId, accountId]);
}

export async function remove(db: Queryable, sessionId: string): Promise<void> {
  await db.query(deleteSession, [sessionId]);
}

export async function removeOfPerson(db: Queryable, personId: string): Promise<void> {
  await db.query(deleteOfPerson, [personId]);
}

/** Those of the person that act for the account. */
export async function removeOfMember(db: Queryable, personId: string, accountId: string): Promise<void> {
  await db.query(deleteOfMember, [personId, accountId]);
}

/** Those that nobody used, or that were opened, before. */
export async function removeOld(db: Queryable, seenMs: number, signedInMs: number): Promise<void> {
  await db.query(deleteOld, [timestamp(seenMs), timestamp(signedInMs)]);
}
