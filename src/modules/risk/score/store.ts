// SQL of scoring. Every statement is set-based over the accounts of a lane commit; their wallets are locked.
import { byteaArray, int2Array, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { ListName } from '../lists/entries.ts';

export interface WindowRow {
  readonly account_id: string;
  readonly key: Buffer;
  readonly series: Buffer;
  readonly recent: Buffer;
}

export interface PairRow {
  readonly account_id: string;
  readonly a: Buffer;
  readonly b: Buffer;
  readonly last_at: number;
}

export interface FoundEntry {
  readonly account_id: string;
  readonly entry: string;
  readonly list: ListName;
  readonly expires_at: number | null;
}

// Each row by its whole key: OFFSET 0 keeps the planner from joining, which would read all keys of an account.
const readWindows = statement(
  'risk_read_windows',
  `SELECT r.*
     FROM unnest($2::text[], $3::bytea[]) u(account_id, key),
          LATERAL (SELECT w.account_id, w.key, w.series, w.recent FROM risk.window w
                    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id AND w.key = u.key OFFSET 0) r`,
);
const readPairs = statement(
  'risk_read_pairs',
  `SELECT r.*
     FROM unnest($2::text[], $3::bytea[], $4::bytea[]) u(account_id, a, b),
          LATERAL (SELECT p.account_id, p.a, p.b, p.last_at FROM risk.pair p
                    WHERE p.account_id = ANY($1::text[]) AND p.account_id = u.account_id AND p.a = u.a AND p.b = u.b OFFSET 0) r`,
);
const readEntries = statement(
  'risk_read_entries',
  `SELECT r.*
     FROM unnest($2::text[], $3::text[]) u(account_id, entry),
          LATERAL (SELECT e.account_id, e.entry, e.list, e.expires_at FROM risk.entry e
                    WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id AND e.entry = u.entry OFFSET 0) r`,
);
const upsertWindows = statement(
  'risk_upsert_windows',
  `INSERT INTO risk.window AS t (account_id, key, series, recent, last_at, last_day)
   SELECT w.account_id, u.key, u.series, u.recent, $6::timestamptz, $7::integer
     FROM core.wallet w, unnest($2::text[], $3::bytea[], $4::bytea[], $5::bytea[]) u(account_id, key, series, recent)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, key) DO UPDATE
      SET series = excluded.series, recent = excluded.recent, last_at = excluded.last_at, last_day = excluded.last_day`,
);
const upsertPairs = statement(
  'risk_upsert_pairs',
  `INSERT INTO risk.pair AS t (account_id, a, b, last_at, last_day)
   SELECT w.account_id, u.a, u.b, $5::timestamptz, $6::integer
     FROM core.wallet w, unnest($2::text[], $3::bytea[], $4::bytea[]) u(account_id, a, b)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, a, b) DO UPDATE SET last_at = excluded.last_at, last_day = excluded.last_day`,
);
const insertDecisions = statement(
  'risk_insert_decisions',
  `INSERT INTO risk.decision AS d (account_id, seq, event, action, score, keys, facts, counts, reasons)
   SELECT w.account_id, u.seq, u.event, u.action, u.score, u.keys, u.facts, u.counts, u.reasons
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::bytea[], $8::text[], $9::bytea[],
                                $10::text[]) u(account_id, seq, event, action, score, keys, facts, counts, reasons)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** A key of an account. */
export interface OwnedKey {
  readonly accountId: string;
  readonly key: Buffer;
}

/** Two keys of one account, that of the lower kind first. */
export interface OwnedPair {
  readonly accountId: string;
  readonly a: Buffer;
  readonly b: Buffer;
}

const owners = (rows: readonly { readonly accountId: string }[]) => textArray(rows.map(({ accountId }) => accountId));

export async function findWindows(tx: Queryable, accounts: Buffer, keys: readonly OwnedKey[]) {
  return (await tx.query<WindowRow>(readWindows, [accounts, owners(keys), byteaArray(keys.map(({ key }) => key))]))
    .rows;
}

export async function findPairs(tx: Queryable, accounts: Buffer, pairs: readonly OwnedPair[]) {
  if (pairs.length === 0) return [];
  const [a, b] = [byteaArray(pairs.map((pair) => pair.a)), byteaArray(pairs.map((pair) => pair.b))];
  return (await tx.query<PairRow>(readPairs, [accounts, owners(pairs), a, b])).rows;
}

export async function findEntries(
  tx: Queryable,
  accounts: Buffer,
  wanted: readonly { readonly accountId: string; readonly entry: string }[],
) {
  if (wanted.length === 0) return [];
  const entries = textArray(wanted.map(({ entry }) => entry));
  return (await tx.query<FoundEntry>(readEntries, [accounts, owners(wanted), entries])).rows;
}

export interface SavedWindow extends OwnedKey {
  readonly series: Buffer;
  readonly recent: Buffer;
}

export function sendWindows(tx: Queryable, accounts: Buffer, rows: readonly SavedWindow[], nowMs: number): void {
  void tx.query(upsertWindows, [
    ...[accounts, owners(rows), byteaArray(rows.map(({ key }) => key))],
    ...[byteaArray(rows.map(({ series }) => series)), byteaArray(rows.map(({ recent }) => recent))],
    ...[timestamp(nowMs), Math.floor(nowMs / DAY_MS)],
  ]);
}

export function sendPairs(tx: Queryable, accounts: Buffer, rows: readonly OwnedPair[], nowMs: number): void {
  if (rows.length === 0) return;
  void tx.query(upsertPairs, [
    ...[accounts, owners(rows), byteaArray(rows.map(({ a }) => a)), byteaArray(rows.map(({ b }) => b))],
    ...[timestamp(nowMs), Math.floor(nowMs / DAY_MS)],
  ]);
}

export interface NewDecision {
  readonly accountId: string;
  readonly seq: bigint;
  readonly event: string;
  readonly action: string;
  readonly score: number;
  readonly keys: Buffer;
  readonly facts: string;
  readonly counts: Buffer;
  readonly reasons: string;
}

export function sendDecisions(tx: Queryable, accounts: Buffer, rows: readonly NewDecision[]): void {
  void tx.query(insertDecisions, [
    ...[accounts, owners(rows), int8Array(rows.map(({ seq }) => seq)), textArray(rows.map(({ event }) => event))],
    ...[textArray(rows.map(({ action }) => action)), int2Array(rows.map(({ score }) => score))],
    ...[byteaArray(rows.map(({ keys }) => keys)), textArray(rows.map(({ facts }) => facts))],
    ...[byteaArray(rows.map(({ counts }) => counts)), textArray(rows.map(({ reasons }) => reasons))],
  ]);
}
