// Browser sessions, opened at a sign-in. A token has 256 random bits and is stored as a hash. A session ends 12 hours after its last use
// and 30 days after it was opened. Its token is replaced daily, and the old one stays valid for another minute.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../core/keys/api-key.ts';
import type { Secrets } from '../../core/secrets/secrets.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/time.ts';
import type { Role } from '../roles.ts';
import * as store from './store.ts';

export const IDLE_MS = 12 * HOUR_MS;
export const LIFE_MS = 30 * DAY_MS;
const ROTATED_AFTER_MS = DAY_MS;
const PREVIOUS_LIVES_MS = MINUTE_MS;
const SEEN_EVERY_MS = 5 * MINUTE_MS;
/** What is not to be done by whoever finds a browser open asks for a sign-in no longer ago. */
const RECENT_MS = 15 * MINUTE_MS;
const TOKEN = /^[0-9A-Za-z_-]{43}$/;
const AGENT_CHARACTERS_MAX = 200;

export interface Session {
  readonly sessionId: string;
  readonly kind: store.SessionKind;
  /** That it acts for. */
  readonly accountId: string;
  /** Null: it is a key's, or the operator's. */
  readonly personId: string | null;
  /** What the person may do there; null: it is no person's, or the person may not act for the account any more. */
  readonly role: Role | null;
  /** Of the secret that opened it; null: it is no key's. */
  readonly secretHash: Buffer | null;
  readonly signedInAtMs: number;
  readonly seenAtMs: number;
  readonly remoteAddress: string;
  readonly agent: string;
  /** Of the database clock, when it was read. */
  readonly nowMs: number;
}

/** Who a session is of. */
export type SessionOwner =
  | { readonly kind: 'person'; readonly personId: string; readonly accountId: string }
  | { readonly kind: 'key'; readonly key: Pick<ApiKey, 'accountId' | 'secretHash'> }
  | { readonly kind: 'operator'; readonly accountId: string };

/** Where it is opened, for the eyes of its person. */
export interface Device {
  readonly remoteAddress: string;
  /** User-Agent, as sent. */
  readonly agent: string | undefined;
}

/** Opens a session. Answers its token, for the cookie alone. */
export async function openSession(
  tx: Transaction,
  owner: SessionOwner,
  device: Device,
  nowMs: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const { kind } = owner;
  const session = {
    sessionId: newId('sess_', nowMs),
    kind,
    tokenHash: hashOf(token),
    accountId: kind === 'key' ? owner.key.accountId : owner.accountId,
    personId: kind === 'person' ? owner.personId : null,
    secretHash: kind === 'key' ? owner.key.secretHash : null,
    remoteAddress: device.remoteAddress,
    agent: (device.agent ?? '').slice(0, AGENT_CHARACTERS_MAX),
  };
  await store.insert(tx, session, nowMs);
  return token;
}

/**
 * The live session of a token, with the token that replaces it when it is old; null: there is none. It counts as used, unless nobody uses
 * it: what a browser asks by itself keeps no session alive, and is given no new token.
 */
export async function findSession(
  db: Database,
  token: string,
  { isUse } = { isUse: true },
): Promise<{ readonly session: Session; readonly newToken: string | null } | null> {
  if (!TOKEN.test(token)) return null;
  const hash = hashOf(token);
  const row = await store.findByToken(db, hash);
  if (row === null || !isLive(row)) return null;
  const isCurrent = row.token_hash.equals(hash);
  if (!isCurrent && (row.previous_until ?? 0) <= row.now) return null;
  const session = sessionOf(row);
  if (!isUse) return { session, newToken: null };
  if (isCurrent && row.now - row.rotated_at >= ROTATED_AFTER_MS) {
    const next = randomBytes(32).toString('base64url');
    if (await store.rotate(db, row, hashOf(next), row.now + PREVIOUS_LIVES_MS)) return { session, newToken: next };
  } else if (row.now - row.seen_at >= SEEN_EVERY_MS) await store.touch(db, row);
  return { session, newToken: null };
}

/** Those of the ids that live. */
export async function findSessions(db: Queryable, sessionIds: readonly string[]): Promise<Session[]> {
  return (await store.findByIds(db, sessionIds)).filter(isLive).map(sessionOf);
}

/** Live sessions of a person, the one used last first. */
export async function sessionsOf(db: Queryable, personId: string): Promise<Session[]> {
  return (await store.findOfPerson(db, personId)).filter(isLive).map(sessionOf);
}

/** In force when it resolves: nothing of a session is remembered anywhere else. */
export function endSession(db: Queryable, sessionId: string): Promise<void> {
  return store.remove(db, sessionId);
}

/** All of a person. */
export function endSessionsOf(db: Queryable, personId: string): Promise<void> {
  return store.removeOfPerson(db, personId);
}

/** Those of a person that act for the account. */
export function endSessionsIn(db: Queryable, personId: string, accountId: string): Promise<void> {
  return store.removeOfMember(db, personId, accountId);
}

/** The session acts for another account of its person from now on. */
export function switchAccount(db: Queryable, sessionId: string, accountId: string): Promise<void> {
  return store.moveTo(db, sessionId, accountId);
}

export function forgetOldSessions(db: Queryable, nowMs: number): Promise<void> {
  return store.removeOld(db, nowMs - IDLE_MS, nowMs - LIFE_MS);
}

/** Whether its sign-in is recent enough for what a browser that was left open must not do. */
export function isRecent({ signedInAtMs, nowMs }: Pick<Session, 'signedInAtMs' | 'nowMs'>): boolean {
  return nowMs - signedInAtMs < RECENT_MS;
}

/** What the forms of a session carry, so that no other page can write them. */
export function formToken(secrets: Secrets, { sessionId }: Pick<Session, 'sessionId'>): string {
  return createHmac('sha256', secrets.derive('form-token', 32)).update(sessionId).digest('base64url');
}

export function isFormToken(secrets: Secrets, session: Pick<Session, 'sessionId'>, sent: string): boolean {
  const [wanted, given] = [Buffer.from(formToken(secrets, session)), Buffer.from(sent)];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

function isLive({ seen_at, signed_in_at, now }: store.SessionRow): boolean {
  return now - seen_at < IDLE_MS && now - signed_in_at < LIFE_MS;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function sessionOf(row: store.SessionRow): Session {
  return {
    sessionId: row.session_id,
    kind: row.kind,
    accountId: row.account_id,
    personId: row.person_id,
    role: row.role,
    secretHash: row.secret_hash,
    signedInAtMs: row.signed_in_at,
    seenAtMs: row.seen_at,
    remoteAddress: row.remote_address,
    agent: row.agent,
    nowMs: row.now,
  };
}
