// Attempts at vendors for work that outlives a call (contract, vendors §4). The row commits before the first byte is sent, and the vendor's
// reference commits before anything else once it accepts. After a crash, another process knows what may be running at a vendor.

import type { Core } from '../core/core.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import { textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { encodeNumber } from '../lib/base62.ts';
import { newId, randomText } from '../lib/ids.ts';
import { type VendorCall, type VendorTimeouts, vendorTimeouts } from '../vendors/call/port.ts';
import type { ModelRow } from '../vendors/file/port.ts';
import type { RoutingPart } from './vendors.ts';

/**
 * `sending`: it may have left; a process that finds it so, and did not send it itself, knows no more than `unknown`. `refused`: the vendor is
 * surely not at work. `ended`: nothing of it is open any more.
 */
export type AttemptState = 'sending' | 'accepted' | 'refused' | 'unknown' | 'ended';

export interface AttemptRow {
  readonly account_id: string;
  readonly attempt_id: string;
  readonly work: string;
  readonly capability: string;
  readonly vendor: string;
  readonly model: string;
  readonly adapter: string;
  readonly base_url: string;
  readonly key_name: string | null;
  readonly asset_hosts: string[];
  /** JSON. */
  readonly timeouts: string;
  /** JSON. */
  readonly request: string;
  readonly token: string;
  readonly quote_nanos: bigint;
  readonly state: AttemptState;
  readonly reason: string | null;
  readonly reference: string | null;
  /** JSON. */
  readonly details: string | null;
  readonly created_at: number;
  readonly ended_at: number | null;
}

export interface NewAttempt {
  readonly accountId: string;
  /** `module:id`, as the owner of its hold. */
  readonly work: string;
  readonly capability: string;
  readonly row: ModelRow;
  readonly quoteNanos: bigint;
  /** What will be sent, as JSON; without what is found again elsewhere, such as pictures. */
  readonly request: unknown;
}

const columns = `a.account_id, a.attempt_id, a.work, a.capability, a.vendor, a.model, a.adapter, a.base_url, a.key_name, a.asset_hosts,
          a.timeouts, a.request, a.token, a.quote_nanos, a.state, a.reason, a.reference, a.details, a.created_at, a.ended_at`;

const insertAttempt = statement(
  'vendor_attempt_begin',
  `INSERT INTO core.vendor_attempt (account_id, attempt_id, work, capability, vendor, model, adapter, base_url, key_name, asset_hosts,
                                    timeouts, request, token, quote_nanos, state, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12, $13, $14, 'sending', core.clock_now())`,
);
const updateAccepted = statement(
  'vendor_attempt_accept',
  `UPDATE core.vendor_attempt SET state = 'accepted', reference = $3, details = $4
    WHERE account_id = $1 AND attempt_id = $2 AND state IN ('sending', 'unknown')`,
);
const updateRefused = statement(
  'vendor_attempt_refuse',
  `UPDATE core.vendor_attempt SET state = 'refused', reason = $3, ended_at = $4
    WHERE account_id = $1 AND attempt_id = $2 AND state = 'sending'`,
);
const updateUnknown = statement(
  'vendor_attempt_lose',
  `UPDATE core.vendor_attempt SET state = 'unknown' WHERE account_id = $1 AND attempt_id = $2 AND state = 'sending'`,
);
const updateDetails = statement(
  'vendor_attempt_details',
  `UPDATE core.vendor_attempt SET details = $3 WHERE account_id = $1 AND attempt_id = $2 AND state = 'accepted'`,
);
const updateEnded = statement(
  'vendor_attempt_end',
  `UPDATE core.vendor_attempt SET state = 'ended', ended_at = $3
    WHERE account_id = $1 AND attempt_id = $2 AND ended_at IS NULL`,
);
const selectOfWork = statement(
  'vendor_attempts_of_work',
  `SELECT ${columns} FROM core.vendor_attempt a WHERE a.account_id = $1 AND a.work = $2 ORDER BY a.attempt_id`,
);
const selectByToken = statement(
  'vendor_attempt_by_token',
  `/* fan-out: vendors give back nothing but the token */
   SELECT ${columns} FROM core.vendor_attempt a WHERE a.token = $1`,
);
const countLive = statement(
  'vendor_attempts_live',
  `/* fan-out: live work of all accounts by vendor */
   SELECT a.vendor, count(*) AS attempts FROM core.vendor_attempt a
    WHERE a.ended_at IS NULL AND (a.state <> 'unknown' OR a.created_at > core.clock_now() - interval '10 minutes')
    GROUP BY a.vendor`,
);

/** Writes the intent. It must be committed before anything is sent: give the database, not a transaction, unless it commits first. */
export async function beginAttempt(
  db: Queryable,
  secrets: Secrets,
  { accountId, work, capability, row, quoteNanos, request }: NewAttempt,
): Promise<{ readonly attemptId: string; readonly token: string }> {
  const attemptId = newId('vat_');
  const token = newToken(secrets);
  const { id, adapter, baseUrl, key, assetHosts } = row.vendor;
  await db.query(insertAttempt, [
    accountId,
    attemptId,
    work,
    capability,
    id,
    row.id,
    adapter,
    baseUrl,
    key?.name ?? null,
    textArray(assetHosts),
    JSON.stringify(row.timeouts),
    JSON.stringify(request),
    token,
    quoteNanos,
  ]);
  return { attemptId, token };
}

/** The vendor has accepted. `details`: what else later calls need. False when the attempt has ended, or was never begun. */
export async function acceptAttempt(
  db: Queryable,
  accountId: string,
  attemptId: string,
  job: { readonly reference: string; readonly details: unknown },
): Promise<boolean> {
  const { count } = await db.query(updateAccepted, [accountId, attemptId, job.reference, JSON.stringify(job.details)]);
  return count === 1;
}

/** The vendor is surely not at work on it. */
export async function refuseAttempt(
  db: Queryable,
  accountId: string,
  attemptId: string,
  reason: string,
  nowMs: number,
): Promise<boolean> {
  return (await db.query(updateRefused, [accountId, attemptId, reason, timestamp(nowMs)])).count === 1;
}

/** Nobody knows whether the vendor is at work on it. */
export async function loseAttempt(db: Queryable, accountId: string, attemptId: string): Promise<boolean> {
  return (await db.query(updateUnknown, [accountId, attemptId])).count === 1;
}

/** Replaces what later calls need. */
export async function saveAttemptDetails(
  db: Queryable,
  accountId: string,
  attemptId: string,
  details: unknown,
): Promise<boolean> {
  return (await db.query(updateDetails, [accountId, attemptId, JSON.stringify(details)])).count === 1;
}

/** Nothing of it is open any more: whoever settles the work calls it in that transaction. False when it had ended. */
export async function endAttempt(db: Queryable, accountId: string, attemptId: string, nowMs: number): Promise<boolean> {
  return (await db.query(updateEnded, [accountId, attemptId, timestamp(nowMs)])).count === 1;
}

/** In the order in which they were begun. */
export async function attemptsOf(db: Queryable, accountId: string, work: string): Promise<AttemptRow[]> {
  return (await db.query<AttemptRow>(selectOfWork, [accountId, work])).rows;
}

/** What a vendor calls back about; null for a token that is not ours, which costs no look-up. */
export async function attemptByToken(db: Queryable, secrets: Secrets, token: string): Promise<AttemptRow | null> {
  if (!isOurToken(secrets, token)) return null;
  return (await db.query<AttemptRow>(selectByToken, [token])).rows[0] ?? null;
}

/** Attempts that have not ended, by vendor; what nobody has heard of for ten minutes is not thought to go on. */
export async function liveAttempts(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ vendor: string; attempts: bigint }>(countLive, []);
  return new Map(rows.map(({ vendor, attempts }) => [vendor, Number(attempts)]));
}

/** How the vendor of an attempt is called: by the row, whatever the file says today. */
export function vendorCallOf(
  { vendors, outbound }: RoutingPart & Pick<Core, 'outbound'>,
  attempt: Pick<AttemptRow, 'base_url' | 'key_name' | 'asset_hosts' | 'timeouts'>,
  signal: AbortSignal,
): VendorCall {
  return {
    baseUrl: attempt.base_url,
    key: attempt.key_name === null ? null : vendors.key(attempt.key_name),
    assetHosts: attempt.asset_hosts,
    timeouts: timeoutsOf(JSON.parse(attempt.timeouts)),
    outbound,
    signal,
  };
}

/** `told`: milliseconds by their names in the file. */
export function timeoutsOf(told: Readonly<Record<string, number>>): VendorTimeouts {
  return {
    connectMs: told.connect_ms ?? vendorTimeouts.connectMs,
    submitMs: told.submit_ms ?? vendorTimeouts.submitMs,
    pollMs: told.poll_ms ?? vendorTimeouts.pollMs,
    downloadMs: told.download_ms ?? vendorTimeouts.downloadMs,
    idleMs: told.idle_ms ?? vendorTimeouts.idleMs,
  };
}

const RANDOM_CHARACTERS = 22;
const MAC_CHARACTERS = 8;
const MACS = 62n ** BigInt(MAC_CHARACTERS);

/** 130 random bits and a MAC: a token that we did not make is refused without a look at the database. */
function newToken(secrets: Secrets): string {
  const random = randomText(RANDOM_CHARACTERS);
  return random + macOf(secrets, random);
}

function isOurToken(secrets: Secrets, token: string): boolean {
  if (!/^[0-9A-Za-z]{30}$/.test(token)) return false;
  return macOf(secrets, token.slice(0, RANDOM_CHARACTERS)) === token.slice(RANDOM_CHARACTERS);
}

function macOf(secrets: Secrets, random: string): string {
  return encodeNumber(Number(secrets.wordMac('vendor-token')(random) % MACS), MAC_CHARACTERS);
}
