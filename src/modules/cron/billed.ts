// Accepted billable units as the module counted them.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { BookPrice } from '../../manifest/capability.ts';

/** What a run costs; also what it is booked as. */
export const runPrice: BookPrice = { book: 'cron.run', unit: 'run' };

const selectBilled = statement(
  'cron_select_billed',
  `SELECT b.capability, b.units FROM cron.billed b WHERE b.account_id = $1`,
);

export async function billedUnits(db: Queryable, accountId: string): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ capability: string; units: bigint }>(selectBilled, [accountId]);
  return new Map(rows.map((row) => [row.capability, row.units]));
}
