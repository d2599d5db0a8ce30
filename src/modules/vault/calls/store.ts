// SQL of the log of calls. A call has its row from the commit that pays for it; how it ended comes later, once.
import { dueTable } from '../../../core/background/due-table.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { LOST_AFTER_MS } from '../limits.ts';

export interface CallRow {
  readonly call_id: string;
  readonly key_id: string;
  readonly connection: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status: number | null;
  readonly bytes_in: bigint;
  readonly bytes_out: bigint;
  readonly latency_ms: number | null;
  readonly code: string | null;
  readonly hold_id: string;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly created_at: number;
}

const columns =
  'call_id, key_id, connection, method, host, path, status, bytes_in, bytes_out, latency_ms, code, hold_id, due_at, attempt, created_at';

/** The process that makes a call ends it; only when that has died does another one. */
export const callDue = dueTable({ table: 'vault.call', key: 'call_id', leaseMs: LOST_AFTER_MS });

const insert = statement(
  'vault_insert_call',
  `INSERT INTO vault.call (account_id, call_id, key_id, connection, method, host, path, hold_id, due_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const end = statement(
  'vault_end_call',
  `UPDATE vault.call SET status = $3, bytes_in = $4, bytes_out = $5, latency_ms = $6, code = $7, due_at = NULL
    WHERE account_id = $1 AND call_id = $2 AND due_at IS NOT NULL`,
);
const open = statement(
  'vault_open_call',
  `SELECT ${columns} FROM vault.call WHERE account_id = $1 AND call_id = $2 AND due_at IS NOT NULL`,
);
const unsettled = statement(
  'vault_unsettled_calls',
  'SELECT call_id FROM vault.call WHERE account_id = $1 AND call_id = ANY($2::text[]) AND due_at IS NOT NULL',
);
/** What the log can be narrowed to. */
export const outcomes = ['answered', 'failed', 'under_way'] as const;
export type Outcome = (typeof outcomes)[number];

const OUTCOME = `CASE WHEN c.due_at IS NOT NULL THEN 'under_way' WHEN c.code IS NOT NULL THEN 'failed' ELSE 'answered' END`;
const page = statement(
  'vault_page_of_calls',
  `SELECT ${columns} FROM vault.call c
    WHERE c.account_id = $1 AND c.call_id < $2
      AND ($4::text IS NULL OR c.connection = $4::text)
      AND ($5::text IS NULL OR c.key_id = $5::text)
      AND ($6::text IS NULL OR ${OUTCOME} = $6::text)
    ORDER BY c.call_id DESC LIMIT $3::int`,
);

/** Sends it without waiting. */
export function sendNewCall(
  tx: Transaction,
  accountId: string,
  row: Pick<CallRow, 'call_id' | 'key_id' | 'connection' | 'method' | 'host' | 'path' | 'hold_id'>,
  { nowMs, dueMs }: { readonly nowMs: number; readonly dueMs: number },
): void {
  const { call_id, key_id, connection, method, host, path, hold_id } = row;
  const times = [timestamp(dueMs), timestamp(nowMs)];
  void tx.query(insert, [accountId, call_id, key_id, connection, method, host, path, hold_id, ...times]);
}

export interface CallEnd {
  readonly status: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly latencyMs: number;
  readonly code: string | null;
}

/** False: it has ended before. */
export async function saveCallEnd(
  tx: Transaction,
  accountId: string,
  callId: string,
  ended: CallEnd,
): Promise<boolean> {
  const { status, bytesIn, bytesOut, latencyMs, code } = ended;
  return (await tx.query(end, [accountId, callId, status, bytesIn, bytesOut, latencyMs, code])).count === 1;
}

/** Null: it has ended. */
export async function findOpenCall(db: Queryable, accountId: string, callId: string): Promise<CallRow | null> {
  return (await db.query<CallRow>(open, [accountId, callId])).rows[0] ?? null;
}

/** Of these calls those whose hold is open. */
export async function unsettledCalls(db: Queryable, accountId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ call_id: string }>(unsettled, [accountId, textArray(ids)]);
  return new Set(rows.map(({ call_id }) => call_id));
}

export interface CallFilters {
  readonly connection: string | null;
  readonly keyId: string | null;
  readonly outcome: Outcome | null;
}

/** The newest first. */
export async function pageOfCalls(
  db: Queryable,
  accountId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
  { connection, keyId, outcome }: CallFilters,
): Promise<readonly CallRow[]> {
  return (await db.query<CallRow>(page, [accountId, after ?? '~', limit, connection, keyId, outcome])).rows;
}
