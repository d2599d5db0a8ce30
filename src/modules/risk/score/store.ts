// SQL of scoring. Every statement is set-based over the accounts of a lane commit, whose wallets are locked.
import { byteaArray, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { RECENT_DECISIONS } from '../limits.ts';

interface WindowKey {
  readonly account_id: string;
  readonly key: Buffer;
}

export interface WindowRow extends WindowKey {
  readonly series: Buffer;
  readonly partners: Buffer;
}

export interface ChangedWindow extends WindowKey {
  readonly series: Buffer;
  /** Empty: as they were. */
  readonly partners: Buffer;
  /** Numbers of the decisions of this commit. */
  readonly seqs: Buffer;
}

export interface NewDecision {
  readonly account_id: string;
  readonly seq: bigint;
  readonly action: string;
  readonly keys: Buffer;
  /** JSON, as it is answered. */
  readonly answer: string;
}

export const SEQ_BYTES = 8;
const RECENT_BYTES = RECENT_DECISIONS * SEQ_BYTES;

// Each row by its whole key: OFFSET 0 keeps the planner from joining, which would read all keys of an account.
const readWindows = statement(
  'risk_read_windows',
  `SELECT r.*
     FROM unnest($2::text[], $3::bytea[]) u(account_id, key),
          LATERAL (SELECT w.account_id, w.key, w.series, w.partners FROM risk.window w
                    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id AND w.key = u.key OFFSET 0) r`,
);
// Partners may be kilobytes: they travel only when they change. Of decisions only the new numbers travel.
const upsertWindows = statement(
  'risk_upsert_windows',
  `INSERT INTO risk.window AS t (account_id, key, series, partners, recent, last_day)
   SELECT w.account_id, u.key, u.series, u.partners, u.seqs, $7::integer
     FROM core.wallet w,
          unnest($2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[]) u(account_id, key, series, partners, seqs)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, key) DO UPDATE
      SET series = excluded.series, last_day = excluded.last_day,
          partners = CASE WHEN excluded.partners = '' THEN t.partners ELSE excluded.partners END,
          recent = substr(t.recent || excluded.recent, greatest(octet_length(t.recent || excluded.recent) - ${RECENT_BYTES}, 0) + 1)`,
);
const insertDecisions = statement(
  'risk_insert_decisions',
  `INSERT INTO risk.decision AS d (account_id, seq, action, keys, answer)
   SELECT w.account_id, u.seq, u.action, u.keys, u.answer
     FROM core.wallet w,
          unnest($2::text[], $3::bigint[], $4::text[], $5::bytea[], $6::text[]) u(account_id, seq, action, keys, answer)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

const readWindow = statement(
  'risk_read_window',
  'SELECT w.series, w.partners, w.recent FROM risk.window w WHERE w.account_id = $1 AND w.key = $2',
);

const owners = (rows: readonly { readonly account_id: string }[]) => textArray(rows.map((row) => row.account_id));

export async function findWindows(
  tx: Queryable,
  accounts: Buffer,
  wanted: readonly WindowKey[],
): Promise<readonly WindowRow[]> {
  const keys = byteaArray(wanted.map(({ key }) => key));
  return (await tx.query<WindowRow>(readWindows, [accounts, owners(wanted), keys])).rows;
}

/** Of one key; `recent`: numbers of its latest decisions, the newest last. */
export async function findWindow(db: Queryable, { account_id, key }: WindowKey) {
  type Row = Pick<WindowRow, 'series' | 'partners'> & { readonly recent: Buffer };
  return (await db.query<Row>(readWindow, [account_id, key])).rows[0];
}

export function sendWindows(tx: Queryable, accounts: Buffer, rows: readonly ChangedWindow[], nowMs: number): void {
  void tx.query(upsertWindows, [
    ...[accounts, owners(rows), byteaArray(rows.map(({ key }) => key))],
    ...[byteaArray(rows.map(({ series }) => series)), byteaArray(rows.map(({ partners }) => partners))],
    ...[byteaArray(rows.map(({ seqs }) => seqs)), Math.floor(nowMs / DAY_MS)],
  ]);
}

export function sendDecisions(tx: Queryable, accounts: Buffer, rows: readonly NewDecision[]): void {
  void tx.query(insertDecisions, [
    ...[accounts, owners(rows), int8Array(rows.map(({ seq }) => seq)), textArray(rows.map(({ action }) => action))],
    ...[byteaArray(rows.map(({ keys }) => keys)), textArray(rows.map(({ answer }) => answer))],
  ]);
}
