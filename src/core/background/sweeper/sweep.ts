// A sweep (one background task), and the building blocks of most sweeps: processing row by row, and retention.
import { textArray } from '../../../db/arrays.ts';
import { type Database, isConnectionError } from '../../../db/database.ts';
import { type SqlValue, type Statement, statement } from '../../../db/statement.ts';

/** One background task. It runs on one process at a time (under a lease), or on every process when it is about the process itself. */
export interface Sweep {
  readonly name: string;
  readonly intervalMs: number;
  /** Runs on every process, without a lease. */
  readonly perProcess?: boolean;
  /** The longest pause after failures, before jitter; one minute when absent. */
  readonly backoffMaxMs?: number;
  /** Does a bounded piece of work, each step a transaction of its own; answers true when there is more to do at once. */
  run(signal: AbortSignal): Promise<boolean>;
}

// One failing row must not keep a sweep from the rows behind it: it would be found first again every time.

/**
 * Runs `mend` for one row after another. A row that fails is passed over, and the first error thrown at the end; a lost
 * connection ends the run at once, since it would fail every row. False when `signal` stopped it and nothing failed.
 */
export async function mendEach<Row>(
  rows: readonly Row[],
  signal: AbortSignal,
  mend: (row: Row) => Promise<void>,
): Promise<boolean> {
  let failed: { readonly error: unknown } | undefined;
  for (const row of rows) {
    if (signal.aborted) break;
    try {
      await mend(row);
    } catch (error) {
      failed ??= { error };
      if (isConnectionError(error)) break;
    }
  }
  if (failed !== undefined) throw failed.error;
  return !signal.aborted;
}

// Retention: the oldest rows of a table, whatever their accounts, are found along the index of their age, and removed account by
// account. A run reads what it removes and nothing else, however many rows are left and however often it has run.

const ROWS_PER_RUN = 1_000;

export interface OldRows<Row extends { readonly account_id: string }> {
  /** A fan-out: keys of the $1 oldest rows past their time, in the order of an index. */
  readonly find: Statement;
  /** Removes rows of the account $1 by their keys, those that are still past their time. */
  readonly remove: Statement;
  /** The parameters of `remove` after the account. */
  keys(rows: readonly Row[]): readonly SqlValue[];
}

/** Answers the run of a sweep. */
export function removeOldRows<Row extends { readonly account_id: string }>(
  db: Database,
  old: OldRows<Row>,
): Sweep['run'] {
  return async (signal) => {
    const { rows } = await db.query<Row>(old.find, [ROWS_PER_RUN]);
    const accounts = [...Map.groupBy(rows, ({ account_id }) => account_id)];
    const finished = await mendEach(accounts, signal, async ([accountId, of]) => {
      await db.query(old.remove, [accountId, ...old.keys(of)]);
    });
    return finished && rows.length === ROWS_PER_RUN;
  };
}

export interface AgedTable {
  readonly table: string;
  /** A text column: the one that follows account_id in the primary key, or any that narrows the rows of an account. */
  readonly key: string;
  /** The column of an instant, which an index begins with: a row is past its time once `keepDays` have gone by since. */
  readonly at: string;
  readonly keepDays: number;
  /** Rows that never are, unless this condition of SQL holds. */
  readonly when?: string;
}

/** The same by the statements of a table whose rows have a time. Called once, at import. */
export function removerOf({ table, key, at, keepDays, when = 'true' }: AgedTable): (db: Database) => Sweep['run'] {
  const name = table.replace('.', '_');
  const isPast = `t.${at} <= core.clock_now() - interval '${keepDays} days' AND ${when}`;
  const find = statement(
    `${name}_find_old`,
    `/* fan-out: rows past their time */
     SELECT t.account_id, t.${key} AS key FROM ${table} t WHERE ${isPast} ORDER BY t.${at} LIMIT $1`,
  );
  const remove = statement(
    `${name}_remove_old`,
    `DELETE FROM ${table} AS t WHERE t.account_id = $1 AND t.${key} = ANY($2::text[]) AND ${isPast}`,
  );
  const keys = (rows: readonly { readonly key: string }[]) => [textArray(rows.map((row) => row.key))];
  return (db) => removeOldRows<{ account_id: string; key: string }>(db, { find, remove, keys });
}
