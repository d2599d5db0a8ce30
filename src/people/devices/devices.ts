// The device flow (RFC 8628): a device asks for a key, a person approves it, and the device fetches it. The key is created when it is
// fetched, in one transaction with its event. It can be fetched again for ten minutes: its secret is sealed under the device code.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { clockNow } from '../../core/database-clock.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { createKey } from '../../core/keys/changes.ts';
import { keyRecord } from '../../core/keys/key-record.ts';
import type { Secrets } from '../../core/secrets/secrets.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { Problem } from '../../problems/problem.ts';
import { wideNetworkOf } from '../addresses.ts';
import { ask } from '../asked.ts';
import { mayStillApprove } from './approver.ts';
import { deviceHash, newDeviceCode, newUserCode } from './codes.ts';
import { countGuess, forgetGuesses, type Guesser, takeBackGuess } from './guesses.ts';
import * as store from './store.ts';

export type DeviceServices = Pick<Core, 'db' | 'secrets' | 'knownScopes'>;

export const CODE_LIVES_MS = 10 * MINUTE_MS;
const INTERVAL_S = 5;
const SLOWER_S = 5;
const REPEATABLE_MS = 10 * MINUTE_MS;
const STARTS = { times: 10, windowMs: MINUTE_MS };
/** A collision of user codes has a chance of one in 10^10 a code that lives. */
const TRIES = 5;

export interface DeviceStart {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly expiresInS: number;
  readonly intervalS: number;
}

/** What a device is told when it asks for its key: words of RFC 8628 §3.5, or the key. */
export type Polled =
  | { readonly kind: 'authorization_pending' | 'expired_token' | 'invalid_grant' }
  | { readonly kind: 'access_denied'; readonly why: string }
  | { readonly kind: 'slow_down'; readonly intervalS: number }
  | { readonly kind: 'key'; readonly key: DeviceKey };

export interface DeviceKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  /** In whole seconds from now; null: it never expires. */
  readonly expiresInS: number | null;
}

/** Begins. A number: the network has begun too often, and is heard again in so many milliseconds. */
export async function startDevice(
  { db }: DeviceServices,
  device: {
    readonly clientName: string;
    readonly scopes: readonly string[];
    readonly remoteAddress: string;
    /** Where it is not drawn here. */
    readonly deviceCode?: string;
  },
): Promise<DeviceStart | number> {
  const nowMs = await clockNow(db);
  const network = wideNetworkOf(device.remoteAddress);
  const waitMs = network === null ? 0 : await ask(db, `device of ${network}`, STARTS, nowMs);
  if (waitMs > 0) return waitMs;
  for (let i = 0; i < TRIES; i += 1) {
    const { deviceCode = newDeviceCode() } = device;
    const userCode = newUserCode();
    const row = {
      device_hash: deviceHash(deviceCode) as Buffer,
      user_code: userCode,
      client_name: device.clientName,
      remote_address: device.remoteAddress,
      scopes: device.scopes,
      interval_s: INTERVAL_S,
      created_at: nowMs,
      expires_at: nowMs + CODE_LIVES_MS,
    };
    if (await store.insert(db, row))
      return { deviceCode, userCode, expiresInS: CODE_LIVES_MS / 1_000, intervalS: INTERVAL_S };
  }
  throw new Error('every user code that was drawn is taken');
}

/** What becomes of the device's question. Two at once get the same key: each holds the row while it looks. */
export function pollDevice(core: DeviceServices, deviceCode: string, clientName: string): Promise<Polled> {
  return askFor(core, deviceCode, (row) => row.client_name === clientName);
}

/** The same of a code that is good for once, and says itself whose it is. */
export function redeemDevice(core: DeviceServices, deviceCode: string): Promise<Polled> {
  return askFor(core, deviceCode, (row) => row.status === 'approved');
}

async function askFor(
  core: DeviceServices,
  deviceCode: string,
  isFor: (row: store.DeviceRow) => boolean,
): Promise<Polled> {
  const hash = deviceHash(deviceCode);
  if (hash === null) return { kind: 'invalid_grant' };
  try {
    return await core.db.transaction(async (tx) => {
      const row = await store.lock(tx, hash);
      if (row === null || !isFor(row)) return { kind: 'invalid_grant' };
      return pollLocked(tx, core, row, deviceCode);
    });
  } catch (error) {
    // The account has as many keys as it may have.
    if (error instanceof Problem && error.code === 'QUOTA_EXCEEDED')
      return { kind: 'access_denied', why: error.message };
    throw error;
  }
}

async function pollLocked(
  tx: Transaction,
  core: DeviceServices,
  row: store.DeviceRow,
  deviceCode: string,
): Promise<Polled> {
  const nowMs = await clockNow(tx);
  if (row.status === 'redeemed') return again(core.secrets, row, deviceCode, nowMs);
  if (row.expires_at <= nowMs) return { kind: 'expired_token' };
  if (row.status === 'denied') return { kind: 'access_denied', why: 'The person did not approve it.' };
  if (row.status === 'approved') return redeemApproved(tx, core, row, deviceCode);
  const isTooSoon = row.polled_at !== null && nowMs - row.polled_at < row.interval_s * 1_000;
  const intervalS = row.interval_s + (isTooSoon ? SLOWER_S : 0);
  await store.markPolled(tx, row.device_hash, nowMs, intervalS);
  return isTooSoon ? { kind: 'slow_down', intervalS } : { kind: 'authorization_pending' };
}

async function redeemApproved(
  tx: Transaction,
  core: DeviceServices,
  row: store.DeviceRow,
  deviceCode: string,
): Promise<Polled> {
  const { secrets } = core;
  const { account_id: accountId, approved_by: approvedBy, granted_scopes: scopes } = row;
  const { client_name, remote_address, device_hash, cap_nanos } = row;
  if (accountId === null || approvedBy === null || scopes === null)
    throw new Error('what was approved names an account, somebody and scopes');
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) return { kind: 'access_denied', why: 'The account is gone.' };
  if (!(await mayStillApprove(tx, core, { accountId, approvedBy, scopes })))
    return { kind: 'access_denied', why: 'Who approved it may not hand out such keys any more.' };
  const cap = cap_nanos === null ? null : { nanos: cap_nanos, period: row.cap_period ?? 'total' };
  const fields = { name: client_name, scopes, expiresAtMs: row.key_expires_at, cap };
  const { key, secret } = await createKey(tx, secrets, accountId, fields, nowMs);
  const sealed = secrets.encrypt('device-key', deviceCode, secret);
  await store.markRedeemed(tx, device_hash, { keyId: key.keyId, sealed }, nowMs);
  const object = { ...keyRecord(key), client_name, address: remote_address };
  sendEvents(tx, [{ accountId, type: 'account.device_linked', data: { object }, requestId: null }], nowMs);
  return keyOf({ ...row, key_id: key.keyId }, secret, nowMs);
}

/** The answer was lost, or is asked for twice. */
function again(secrets: Secrets, row: store.DeviceRow, deviceCode: string, nowMs: number): Polled {
  const { redeemed_at, sealed_secret } = row;
  if (redeemed_at === null || sealed_secret === null || nowMs - redeemed_at >= REPEATABLE_MS)
    return { kind: 'invalid_grant' };
  return keyOf(row, secrets.decrypt('device-key', deviceCode, sealed_secret), nowMs);
}

function keyOf(row: store.DeviceRow, secret: string, nowMs: number): Polled {
  const expiresInS = row.key_expires_at === null ? null : Math.max(0, Math.floor((row.key_expires_at - nowMs) / 1_000));
  const { account_id, key_id, granted_scopes } = row;
  return {
    kind: 'key',
    key: { accountId: account_id ?? '', keyId: key_id ?? '', secret, scopes: granted_scopes ?? [], expiresInS },
  };
}

/** The device that waits under a code; a number: who guesses is not heard for so many milliseconds; null: none waits under it. */
export function findWaiting(
  { db }: Pick<DeviceServices, 'db'>,
  userCode: string | null,
  guessers: readonly Guesser[],
): Promise<store.DeviceRow | number | null> {
  return db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const blockedMs = await countGuess(tx, guessers, nowMs);
    if (blockedMs > 0) return blockedMs;
    const row = userCode === null ? null : await store.findByUserCode(tx, userCode);
    if (row === null || row.status !== 'pending' || row.expires_at <= nowMs) return null;
    await takeBackGuess(tx, guessers);
    return row;
  });
}

/** Locks the device until the end of the transaction. False: it does not wait any more. */
export async function lockWaiting(
  tx: Transaction,
  { device_hash }: Pick<store.DeviceRow, 'device_hash'>,
): Promise<boolean> {
  const [row, nowMs] = [await store.lock(tx, device_hash), await clockNow(tx)];
  return row !== null && row.status === 'pending' && row.expires_at > nowMs;
}

/** A person's no. What does not wait any more stays as it is. */
export function denyDevice({ db }: Pick<DeviceServices, 'db'>, device: store.DeviceRow): Promise<void> {
  return db.transaction(async (tx) => {
    if (await lockWaiting(tx, device)) await store.markDenied(tx, device.device_hash);
  });
}

/** Codes are kept a while after their end, so that who comes late is told why. */
export function deviceRetention(db: Database): Sweep {
  return {
    name: 'devices.retention',
    intervalMs: MINUTE_MS,
    run: async () => {
      const nowMs = await clockNow(db);
      await store.removeOld(db, nowMs - REPEATABLE_MS);
      await forgetGuesses(db, nowMs);
      return false;
    },
  };
}
