// Statements for a table whose rows are jobs of `dueWork`, all built from one description. Column due_at: when a row is due or its lease ends
// (null: never). Column attempt: raised by each claim; an attempt may change its row only until the next claim.
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Claimed, LeasedJob, Wanted } from './due-work.ts';

export interface DueTable {
  /** Leases due rows: `claim` of `dueWork`. */
  claim(tx: Transaction, accountId: string, wanted: Pick<Wanted, 'limit' | 'underWay'>): Promise<Claimed<LeasedJob>>;
  /** When the job is due next, unless another attempt has begun; null: never. `putBack` of `dueWork`. */
  setDue(tx: Queryable, job: LeasedJob, dueMs: number | null): Promise<void>;
  /** Begins an attempt that is due at `dueMs`, so that none under way puts the row off. Answers its number; null: there is no such row. */
  makeDue(tx: Queryable, accountId: string, id: string, dueMs: number): Promise<number | null>;
}

export interface DueShape {
  /** With its schema: `core.topup`. */
  readonly table: string;
  /** The column that follows account_id in the primary key. */
  readonly key: string;
  /** The column that counts attempts; `attempt` when absent. */
  readonly attempt?: string;
  /** Longer than an attempt takes. */
  readonly leaseMs: number;
  /** Rows that may be made due, as a condition of SQL; all when absent. */
  readonly mayBeDue?: string;
}

/** Called once, at import. */
export function dueTable({ table, key, attempt = 'attempt', leaseMs, mayBeDue = 'true' }: DueShape): DueTable {
  const statementName = (what: string) => `due_${table.replace('.', '_')}_${what}`;
  const one = `account_id = $1 AND ${key} = $2`;
  const claim = statement(
    statementName('claim'),
    `WITH c AS MATERIALIZED (
       SELECT ${key}, core.clock_now() + $4 * interval '1 millisecond' AS lease_end
         FROM ${table}
        WHERE account_id = $1 AND due_at <= core.clock_now() AND ${key} <> ALL($3::text[])
        ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     UPDATE ${table} t SET due_at = c.lease_end, ${attempt} = t.${attempt} + 1
       FROM c WHERE t.account_id = $1 AND t.${key} = c.${key}
     RETURNING t.${key} AS id, t.${attempt} AS attempt`,
  );
  const next = statement(
    statementName('next'),
    `SELECT due_at FROM ${table} WHERE account_id = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  );
  const set = statement(statementName('set'), `UPDATE ${table} SET due_at = $4 WHERE ${one} AND ${attempt} = $3`);
  const make = statement(
    statementName('make'),
    `UPDATE ${table} SET due_at = $3, ${attempt} = ${attempt} + 1 WHERE ${one} AND (${mayBeDue}) RETURNING ${attempt} AS attempt`,
  );
  return {
    async claim(tx, accountId, { limit, underWay }) {
      const [claimed, left] = await Promise.all([
        tx.query<{ id: string; attempt: number }>(claim, [accountId, limit, textArray(underWay), leaseMs]),
        tx.query<{ due_at: number }>(next, [accountId]),
      ]);
      return { jobs: claimed.rows.map((row) => ({ accountId, ...row })), nextMs: left.rows[0]?.due_at ?? null };
    },
    async setDue(tx, { accountId, id, attempt: number }, dueMs) {
      await tx.query(set, [accountId, id, number, timestamp(dueMs)]);
    },
    async makeDue(tx, accountId, id, dueMs) {
      const { rows } = await tx.query<{ attempt: number }>(make, [accountId, id, timestamp(dueMs)]);
      return rows[0]?.attempt ?? null;
    },
  };
}
