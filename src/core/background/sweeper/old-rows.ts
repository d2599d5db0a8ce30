// Retention: the oldest rows of a table, whatever their accounts, are found along the index of their age, and removed account by
// account. A run reads what it removes and nothing else, however many rows are left and however often it has run.
import type { Database } from '../../../db/database.ts';
import type { SqlValue, Statement } from '../../../db/statement.ts';
import { mendEach } from './mend-each.ts';
import type { Sweep } from './sweep.ts';

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
