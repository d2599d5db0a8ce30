// Changes of a key (contract §2): create, rename, re-scope, rotate, revoke, flag. The caller holds the account lock (lockAccount) and passes the
// time read under it. Scopes are validated earlier; here they are only stored.
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { findAccount } from '../accounts/accounts.ts';
import { requireMayHave } from '../accounts/operator.ts';
import { type CapPeriod, type CapSetting, setCap } from '../callers/key-cap.ts';
import { tierLimits } from '../callers/tiers.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { openWallet } from '../wallet/open-wallet.ts';
import { mintSecret } from './api-key.ts';
import {
  countEarlier,
  countKeys,
  findKey,
  insertKey,
  type KeyFields,
  markFlagged,
  markRevoked,
  replaceSecret,
  type StoredKey,
  updateKeyFields,
} from './store.ts';

export const GRACE_HOURS_MAX = 168;
const EARLIER_SECRETS_MAX = 2;

/** A key with the secret that was just made for it: the only time it is known. */
export interface KeyWithSecret {
  readonly key: StoredKey;
  readonly secret: string;
}

export type NewKey = Pick<KeyFields, 'name' | 'scopes' | 'expiresAtMs' | 'cap'>;

/** Throws INVALID_SCOPE for a scope that only the operator's keys may have, QUOTA_EXCEEDED at the tier's number of keys that are neither revoked nor expired. */
export async function createKey(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  fields: NewKey,
  nowMs: number,
): Promise<KeyWithSecret> {
  await requireMayHave(tx, accountId, fields.scopes);
  const [account, keys] = await Promise.all([findAccount(tx, accountId), countKeys(tx, accountId)]);
  if (account === null) throw new Error(`no account ${accountId}`);
  const keysMax = tierLimits[account.tier].keysMax;
  if (keys >= keysMax) {
    const message = `The account has ${keys} usable keys; its tier ${account.tier} allows ${keysMax}.`;
    throw problem('QUOTA_EXCEEDED', { message, detail: 'keys' });
  }
  return insertNewKey(tx, secrets, accountId, { ...fields, projectId: account.projectId }, nowMs);
}

/**
 * Gives the key a new secret. The one before lives on for `graceMs`; with 0 it and all earlier ones end with this transaction.
 * Throws KEY_NOT_FOUND, KEY_NOT_ROTATABLE (revoked or expired), KEY_ROTATION_LIMIT (two earlier secrets would become three).
 */
export async function rotateKey(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  keyId: string,
  graceMs: number,
  nowMs: number,
): Promise<KeyWithSecret> {
  const before = await requireKey(tx, accountId, keyId);
  if (!isUsable(before))
    throw problem('KEY_NOT_ROTATABLE', { message: `The key is ${before.status}.`, param: 'key_id' });
  const earlier = await countEarlier(tx, accountId, keyId);
  if (graceMs > 0 && earlier >= EARLIER_SECRETS_MAX) throw problem('KEY_ROTATION_LIMIT', { param: 'grace_hours' });
  const minted = mintSecret(secrets);
  await replaceSecret(tx, accountId, keyId, minted, nowMs + graceMs, nowMs);
  return { key: await requireKey(tx, accountId, keyId), secret: minted.secret };
}

/** Ends the key and all its secrets. A key that is revoked already stays as it is. Throws KEY_NOT_FOUND. */
export async function revokeKey(
  tx: Transaction,
  accountId: string,
  keyId: string,
  reason: 'requested' | 'confirmed_leak',
  nowMs: number,
): Promise<StoredKey> {
  const before = await requireKey(tx, accountId, keyId);
  if (before.status === 'revoked') return before;
  await markRevoked(tx, accountId, keyId, reason, nowMs);
  return requireKey(tx, accountId, keyId);
}

/** What a spend cap becomes: absent parts stay; an amount of null removes it. */
export interface CapChange {
  readonly nanos?: bigint | null;
  readonly period?: CapPeriod;
}

type KeyChange = Partial<Pick<KeyFields, 'name' | 'scopes'>> & { readonly cap?: CapChange };

/** Absent fields stay. Throws INVALID_SCOPE as createKey, KEY_NOT_FOUND, STATE_CONFLICT for a revoked key, and INVALID_REQUEST for a period without a cap. */
export async function updateKey(
  tx: Transaction,
  accountId: string,
  keyId: string,
  change: KeyChange,
  nowMs: number,
): Promise<StoredKey> {
  const before = await requireKey(tx, accountId, keyId);
  if (before.status === 'revoked') throw problem('STATE_CONFLICT', { message: 'The key is revoked.', param: 'key_id' });
  const name = change.name === undefined ? before.name : change.name;
  const scopes = change.scopes === undefined ? before.scopes : change.scopes;
  await requireMayHave(tx, accountId, change.scopes ?? null);
  if (change.cap !== undefined) await changeCap(tx, before, accountId, change.cap);
  await updateKeyFields(tx, accountId, keyId, { name, scopes }, nowMs);
  return requireKey(tx, accountId, keyId);
}

/**
 * Revokes a leaked key and, when asked, makes one like it under a new id: same name, scopes, expiry and spend cap, of which
 * nothing is used yet. A key that was no longer
 * usable has nothing to replace. No quota applies: the number of usable keys does not grow. Throws KEY_NOT_FOUND.
 */
export async function replaceLeakedKey(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  keyId: string,
  replace: boolean,
  nowMs: number,
): Promise<{ readonly key: StoredKey; readonly replacement: KeyWithSecret | null }> {
  const before = await requireKey(tx, accountId, keyId);
  const key = await revokeKey(tx, accountId, keyId, 'confirmed_leak', nowMs);
  const replacement =
    replace && isUsable(before)
      ? await insertNewKey(tx, secrets, accountId, { ...before, cap: settingOf(before) }, nowMs)
      : null;
  return { key, replacement };
}

/** Notes a suspicion without ending anything. Throws KEY_NOT_FOUND. */
export async function flagKey(tx: Transaction, accountId: string, keyId: string, nowMs: number): Promise<StoredKey> {
  await requireKey(tx, accountId, keyId);
  await markFlagged(tx, accountId, keyId, nowMs);
  return requireKey(tx, accountId, keyId);
}

export async function requireKey(tx: Transaction, accountId: string, keyId: string): Promise<StoredKey> {
  const key = await findKey(tx, accountId, keyId);
  if (key === null) throw problem('KEY_NOT_FOUND', { param: 'key_id' });
  return key;
}

async function changeCap(tx: Transaction, key: StoredKey, accountId: string, change: CapChange): Promise<void> {
  const before = settingOf(key);
  const nanos = change.nanos === undefined ? (before?.nanos ?? null) : change.nanos;
  if (nanos === null && change.period !== undefined) throw periodWithoutCap();
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw new Error(`account ${accountId} has no wallet`);
  const period = change.period ?? before?.period ?? 'total';
  await setCap(tx, opened, key.keyId, before, nanos === null ? null : { nanos, period });
}

/** A period says nothing without an amount. */
export function periodWithoutCap(): Problem {
  return problem('INVALID_REQUEST', {
    message: 'spend_cap_period needs spend_cap_usd: the key has no spend cap.',
    param: 'spend_cap_period',
  });
}

function settingOf({ cap }: StoredKey): CapSetting | null {
  return cap === null ? null : { nanos: cap.cap, period: cap.period };
}

function isUsable(key: StoredKey): boolean {
  return key.status === 'active' || key.status === 'rotating';
}

async function insertNewKey(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  { name, scopes, expiresAtMs, cap, projectId }: NewKey & { projectId: string },
  nowMs: number,
): Promise<KeyWithSecret> {
  const minted = mintSecret(secrets);
  const keyId = newId('key_');
  await insertKey(tx, accountId, { keyId, projectId, name, scopes, expiresAtMs, cap }, minted, nowMs);
  return { key: await requireKey(tx, accountId, keyId), secret: minted.secret };
}
