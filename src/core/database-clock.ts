// Reads the database's clock, which all processes share.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const readClock = statement('clock_now', `SELECT date_trunc('milliseconds', core.clock_now()) AS now`);

/** Epoch milliseconds, whole ones. Sent behind a lock it is later than every transaction that held the lock before. */
export async function clockNow(db: Queryable): Promise<number> {
  return (await db.query<{ now: number }>(readClock, [])).rows[0]?.now as number;
}
