// Multi-row writes of one account in one statement, for imports and batches.

import { boolArray, int4Array, int8Array, textArray, timestampArray } from '../db/arrays.ts';
import type { Transaction } from '../db/database.ts';
import { anchorTable, statement } from '../db/statement.ts';
import type { CallContext } from './services.ts';

/** By the type of a column; an instant is milliseconds in the row. */
const arrays = { text: textArray, bool: boolArray, int: int4Array, bigint: int8Array, timestamptz: timestampArray };

interface RowsShape<Column extends string> {
  /** With its schema: `flags.flag`. */
  readonly table: string;
  /** Columns of the primary key behind account_id. */
  readonly key: readonly NoInfer<Column>[];
  /** Beside account_id, with their types. */
  readonly columns: Readonly<Record<Column, keyof typeof arrays>>;
  /** Columns that keep their value where a row takes the place of another. */
  readonly kept?: readonly NoInfer<Column>[];
}

type Value = string | number | bigint | boolean | null;

/** Adds rows, or changes those of their keys. None may come twice. Called once, at import. */
export function rowsSaver<Column extends string>({ table, key, columns, kept = [] }: RowsShape<Column>) {
  const names = Object.keys(columns) as Column[];
  const types = names.map((name, i) => `$${i + 2}::${columns[name]}[]`);
  const changed = names.filter((name) => !key.includes(name) && !kept.includes(name));
  const save = statement(
    `kit_${table.replace('.', '_')}_save_rows`,
    `INSERT INTO ${table} AS t (account_id, ${names.join(', ')})
     SELECT w.account_id, ${names.map((name) => `u.${name}`).join(', ')}
       FROM ${anchorTable} w, unnest(${types.join(', ')}) u(${names.join(', ')})
      WHERE w.account_id = $1
         ON CONFLICT (account_id, ${key.join(', ')}) DO UPDATE SET ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  );
  return async (
    tx: Transaction,
    { accountId }: Pick<CallContext, 'accountId'>,
    rows: readonly Readonly<Record<Column, Value>>[],
  ): Promise<void> => {
    if (rows.length === 0) return;
    const sent = names.map((name) => {
      const array = arrays[columns[name]] as (values: readonly Value[]) => Buffer;
      return array(rows.map((row) => row[name]));
    });
    const { count } = await tx.query(save, [accountId, ...sent]);
    if (count !== rows.length) throw new Error(`${rows.length - count} rows of ${table} were not saved`);
  };
}
