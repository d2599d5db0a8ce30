// SQL of account merges: the journal of credit that leaves and arrives, and keys that change their account. Callers hold the wallet rows locked.

import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

/** What an account gives away; amounts as decimal texts of nano-USD. */
export interface Content {
  readonly account: Readonly<Record<string, unknown>>;
  readonly grants: readonly MovedGrant[];
  readonly keys: readonly (Readonly<Record<string, unknown>> & { readonly key_id: string })[];
}

export interface MovedGrant {
  readonly grantId: string;
  readonly kind: 'promo' | 'paid';
  readonly nanos: string;
  readonly expiresAtMs: number | null;
  readonly note: string | null;
  readonly testMode: boolean;
}

export interface Moving {
  readonly from: string;
  readonly into: string;
}

const insertJournal = statement(
  'absorption_insert',
  `INSERT INTO core.absorption (account_id, other_account_id, is_leaving, content, begun_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id, other_account_id, is_leaving) DO NOTHING`,
);
const markArrived = statement(
  'absorption_mark_arrived',
  `UPDATE core.absorption SET arrived_at = $3 WHERE account_id = $1 AND other_account_id = $2 AND is_leaving`,
);
const readJournal = statement(
  'absorption_read',
  `SELECT content FROM core.absorption
    WHERE account_id = $1 AND other_account_id = $2 AND is_leaving AND arrived_at IS NULL`,
);
const findUnderWay = statement(
  'absorption_find_under_way',
  `/* fan-out: accounts that have left and not arrived */
   SELECT account_id AS "from", other_account_id AS "into" FROM core.absorption
    WHERE is_leaving AND arrived_at IS NULL AND begun_at <= core.clock_now() - $1 * interval '1 millisecond'
    ORDER BY begun_at LIMIT 100`,
);
const readMovedGrants = statement(
  'absorption_read_grants',
  `SELECT g.grant_id AS "grantId", g.note, g.test_mode AS "testMode"
     FROM core.credit_grant g WHERE g.account_id = $1 AND NOT g.spent`,
);
const countHolds = statement(
  'absorption_count_holds',
  `SELECT count(*) AS holds FROM core.hold WHERE account_id = $1 AND status = 'active'`,
);
const countOpenPayments = statement(
  'absorption_count_payments',
  `SELECT (SELECT count(*) FROM core.topup t WHERE t.account_id = $1 AND t.status IN ('pending', 'review'))
          + (SELECT count(*) FROM core.clawback c WHERE c.account_id = $1 AND c.status = 'pending') AS payments`,
);
const findDeparture = statement(
  'absorption_find_departure',
  `SELECT other_account_id AS "into", begun_at AS "atMs" FROM core.absorption
    WHERE account_id = $1 AND is_leaving AND begun_at > $2
    ORDER BY begun_at LIMIT 1`,
);
// What a cap allowed in all goes on; a day or month begins anew, for it counts what the new account pays.
// The keys are locked too: a key's last use and its removal after retention are written without the wallet's lock.
const readKeys = statement(
  'absorption_read_keys',
  `SELECT (to_jsonb(k) || jsonb_build_object('spend_window_start', null, 'spend_used_nanos', 0, 'spend_held_nanos', 0,
           'spend_cap_nanos', CASE WHEN k.spend_cap_period = 'total' THEN greatest(k.spend_cap_nanos - k.spend_used_nanos, 0)
                                   ELSE k.spend_cap_nanos END))::text AS key
     FROM core.api_key AS k WHERE k.account_id = $1 FOR UPDATE`,
);
const deleteKeys = statement('absorption_delete_keys', 'DELETE FROM core.api_key WHERE account_id = $1');
const insertKeys = statement(
  'absorption_insert_keys',
  `INSERT INTO core.api_key AS k (account_id, project_id, key_id, name, scopes, prefix, last4, spend_cap_nanos, spend_cap_period,
                                  spend_window_start, spend_used_nanos, spend_held_nanos, created_at, updated_at, last_used_at,
                                  expires_at, revoked_at, revoked_reason, flagged_at)
   SELECT a.account_id, a.project_id, r.key_id, r.name, r.scopes, r.prefix, r.last4, r.spend_cap_nanos, r.spend_cap_period,
          r.spend_window_start, r.spend_used_nanos, r.spend_held_nanos, r.created_at, $3::timestamptz, r.last_used_at,
          r.expires_at, r.revoked_at, r.revoked_reason, r.flagged_at
     FROM core.account a, jsonb_populate_recordset(NULL::core.api_key, $2::jsonb) r
    WHERE a.account_id = $1`,
);
const moveSecrets = statement(
  'absorption_move_secrets',
  'UPDATE core.api_secret SET account_id = $2 WHERE account_id = $1',
);

/** False when it is written already. */
export async function writeLeaving(tx: Queryable, { from, into }: Moving, content: Content, nowMs: number) {
  return (await tx.query(insertJournal, [from, into, true, JSON.stringify(content), timestamp(nowMs)])).count === 1;
}

/** False when it has arrived already. */
export async function writeArriving(tx: Queryable, { from, into }: Moving, nowMs: number): Promise<boolean> {
  return (await tx.query(insertJournal, [into, from, false, null, timestamp(nowMs)])).count === 1;
}

export async function writeArrived(tx: Queryable, { from, into }: Moving, nowMs: number): Promise<void> {
  await tx.query(markArrived, [from, into, timestamp(nowMs)]);
}

/** What has left and not arrived; null when there is no such thing. */
export async function readLeaving(db: Queryable, { from, into }: Moving): Promise<Content | null> {
  const { rows } = await db.query<{ content: string }>(readJournal, [from, into]);
  return rows[0] === undefined ? null : (JSON.parse(rows[0].content) as Content);
}

export async function findMoving(db: Queryable, olderThanMs: number): Promise<readonly Moving[]> {
  return (await db.query<Moving>(findUnderWay, [olderThanMs])).rows;
}

/** Holds that run, or money that may still come or go back. */
export async function hasMoneyUnderWay(tx: Queryable, accountId: string): Promise<boolean> {
  const [holds, payments] = await Promise.all([
    tx.query<{ holds: bigint }>(countHolds, [accountId]),
    tx.query<{ payments: bigint }>(countOpenPayments, [accountId]),
  ]);
  return (holds.rows[0]?.holds ?? 0n) + (payments.rows[0]?.payments ?? 0n) > 0n;
}

/** Into which account everything went first after `afterMs`, and when. Null: it is still there. */
export async function departureOf(
  tx: Queryable,
  accountId: string,
  afterMs: number,
): Promise<{ readonly into: string; readonly atMs: number } | null> {
  const { rows } = await tx.query<{ into: string; atMs: number }>(findDeparture, [accountId, timestamp(afterMs)]);
  return rows[0] ?? null;
}

export async function readGrantNotes(tx: Queryable, accountId: string) {
  const { rows } = await tx.query<Pick<MovedGrant, 'grantId' | 'note' | 'testMode'>>(readMovedGrants, [accountId]);
  return new Map(rows.map((row) => [row.grantId, row]));
}

/** Takes all keys out of an account; their secrets lead nowhere until they are put in elsewhere. */
export async function takeKeysOut(tx: Queryable, accountId: string): Promise<Content['keys']> {
  const { rows } = await tx.query<{ key: string }>(readKeys, [accountId]);
  const deleted = await tx.query(deleteKeys, [accountId]);
  if (deleted.count !== rows.length) throw new Error(`${deleted.count} of ${rows.length} keys of ${accountId} left it`);
  return rows.map(({ key }) => JSON.parse(key));
}

export async function putKeysIn(tx: Queryable, { from, into }: Moving, keys: Content['keys'], nowMs: number) {
  const put = await tx.query(insertKeys, [into, JSON.stringify(keys), timestamp(nowMs)]);
  if (put.count !== keys.length) throw new Error(`${put.count} of ${keys.length} keys of ${from} came to ${into}`);
  await tx.query(moveSecrets, [from, into]);
}
