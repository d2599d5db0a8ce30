// What time it is: the database's clock, which all processes share.
import type { Queryable } from '../db/database.ts';
import { readClock } from './wallet/lane/statements.ts';

/** Database time, epoch milliseconds. */
export async function databaseNow(db: Queryable): Promise<number> {
  return (await db.query<{ now: number }>(readClock, [])).rows[0]?.now as number;
}
