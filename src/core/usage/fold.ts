// Roll-up of usage: hourly rows become daily, then monthly ones. An old row is added to the row that begins its day or month, in the same table.
// So sums never change, only the resolution of old ones.

import { textArray, timestampArray } from '../../db/arrays.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { startOfDay, startOfMonth } from '../../lib/time.ts';
import type { Sweep } from '../background/sweeper/sweep.ts';
import { mendEach } from '../background/sweeper/sweep.ts';
import { clockNow } from '../database-clock.ts';
import { addUsage } from './add-usage.ts';
import { keptFrom } from './period.ts';

const ROWS_PER_RUN = 1_000;

interface Key {
  readonly account_id: string;
  readonly hour: number;
  readonly capability: string;
  readonly key_id: string;
}

interface Row extends Key {
  readonly request_count: bigint;
  readonly error_count: bigint;
  readonly units: bigint;
  readonly spend_nanos: bigint;
}

// Each has an index of its own.
const findHours = statement(
  'usage_find_hours',
  `/* fan-out: hours that are to be added to their days */
   SELECT u.account_id, u.hour, u.capability, u.key_id FROM core.usage_hour u
    WHERE date_part('hour', u.hour AT TIME ZONE 'UTC') <> 0 AND u.hour < $2 ORDER BY u.hour LIMIT $1`,
);
const findDays = statement(
  'usage_find_days',
  `/* fan-out: days that are to be added to their months */
   SELECT u.account_id, u.hour, u.capability, u.key_id FROM core.usage_hour u
    WHERE date_part('day', u.hour AT TIME ZONE 'UTC') <> 1 AND u.hour < $2 ORDER BY u.hour LIMIT $1`,
);
const takeRows = statement(
  'usage_take_rows',
  `DELETE FROM core.usage_hour u USING unnest($2::timestamptz[], $3::text[], $4::text[]) k(hour, capability, key_id)
    WHERE u.account_id = $1 AND u.hour = k.hour AND u.capability = k.capability AND u.key_id = k.key_id
   RETURNING u.account_id, u.hour, u.capability, u.key_id, u.request_count, u.error_count, u.units, u.spend_nanos`,
);

export function usageFolding(db: Database): Sweep {
  return {
    name: 'usage.fold',
    intervalMs: 60_000,
    async run(signal) {
      const kept = keptFrom(await clockNow(db));
      const hours = await fold(db, findHours, kept.hoursMs, startOfDay, signal);
      const days = await fold(db, findDays, kept.daysMs, startOfMonth, signal);
      return hours || days;
    },
  };
}

/** Answers whether there may be more. */
async function fold(
  db: Database,
  find: Statement,
  beforeMs: number,
  startOf: (ms: number) => number,
  signal: AbortSignal,
): Promise<boolean> {
  const { rows } = await db.query<Key>(find, [ROWS_PER_RUN, timestamp(beforeMs)]);
  const accounts = [...Map.groupBy(rows, ({ account_id }) => account_id)];
  const finished = await mendEach(accounts, signal, ([accountId, keys]) =>
    db.transaction((tx) => foldRows(tx, accountId, keys, startOf), accountId),
  );
  return finished && rows.length === ROWS_PER_RUN;
}

/** Who takes the rows adds them: two processes that fold at once do not add them twice. */
async function foldRows(
  tx: Transaction,
  accountId: string,
  keys: readonly Key[],
  startOf: (ms: number) => number,
): Promise<void> {
  const { rows } = await tx.query<Row>(takeRows, [
    accountId,
    timestampArray(keys.map(({ hour }) => hour)),
    textArray(keys.map(({ capability }) => capability)),
    textArray(keys.map(({ key_id }) => key_id)),
  ]);
  const groups = [
    ...Map.groupBy(rows, (row) => JSON.stringify([startOf(row.hour), row.capability, row.key_id])).values(),
  ];
  const sums = groups.map((of) => {
    const { hour, capability, key_id: keyId } = of[0] as Row;
    const sum = (field: 'request_count' | 'error_count' | 'units' | 'spend_nanos') =>
      of.reduce((total, row) => total + row[field], 0n);
    return {
      accountId,
      atMs: startOf(hour),
      capability,
      keyId,
      requests: sum('request_count'),
      errors: sum('error_count'),
      units: sum('units'),
      spendNanos: sum('spend_nanos'),
    };
  });
  await addUsage(tx, sums);
}
