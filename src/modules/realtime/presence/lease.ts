// Lease of this process on its occupancy and presence rows. A lease that is not renewed in time is ended by another process, once. The process
// then takes a new id and writes all its rows again. Real time, not clock_now(), as for every process lease.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { newId } from '../../../lib/ids.ts';

export const LEASE_MS = 15_000;
export const RENEW_MS = 5_000;

const insert = statement(
  'realtime_process_insert',
  `INSERT INTO realtime.process (process_id, is_ended, lease_until)
   VALUES ($1, false, clock_timestamp() + $2 * interval '1 millisecond')`,
);
const renew = statement(
  'realtime_process_renew',
  `UPDATE realtime.process SET lease_until = clock_timestamp() + $2 * interval '1 millisecond'
    WHERE process_id = $1 AND NOT is_ended`,
);
const end = statement(
  'realtime_process_end',
  'UPDATE realtime.process SET is_ended = true WHERE lease_until < clock_timestamp() AND NOT is_ended',
);
const listEnded = statement(
  'realtime_process_ended',
  'SELECT process_id FROM realtime.process WHERE is_ended LIMIT 100',
);
const listAccounts = statement(
  'realtime_process_accounts',
  `/* fan-out: accounts with rows of processes that are gone */
   SELECT account_id, process_id FROM realtime.occupancy WHERE process_id = ANY($1::text[])
    GROUP BY account_id, process_id LIMIT 200`,
);
const forget = statement(
  'realtime_process_forget',
  `DELETE FROM realtime.process WHERE is_ended AND lease_until < clock_timestamp() - interval '1 hour'`,
);

/** Registers the process under a new id. */
export async function beginLease(db: Queryable): Promise<string> {
  const id = newId('rtp_');
  await db.query(insert, [id, LEASE_MS]);
  return id;
}

/** False: another process has ended it. */
export async function renewLease(db: Queryable, id: string, leaseMs = LEASE_MS): Promise<boolean> {
  return (await db.query(renew, [id, leaseMs])).count === 1;
}

export interface Abandoned {
  readonly account_id: string;
  readonly process_id: string;
}

/** Ends those whose lease is over, and finds what they have left. */
export async function endLeases(db: Queryable): Promise<readonly Abandoned[]> {
  await db.query(end, []);
  const { rows } = await db.query<{ process_id: string }>(listEnded, []);
  if (rows.length === 0) return [];
  const left = await db.query<Abandoned>(listAccounts, [textArray(rows.map(({ process_id }) => process_id))]);
  // What one of them wrote while it did not know yet is found for another hour.
  if (left.rows.length === 0) await db.query(forget, []);
  return left.rows;
}
