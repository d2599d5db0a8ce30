// Accepted billable units as the module counted them.
import { int8Array, textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const selectBilled = statement(
  'vector_select_billed',
  `SELECT b.capability, b.units FROM vector.billed b WHERE b.account_id = $1`,
);
const countBilled = statement(
  'vector_count_billed',
  `INSERT INTO vector.billed AS b (account_id, capability, units)
   SELECT w.account_id, u.capability, u.units
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::bigint[]) u(account_id, capability, units)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, capability) DO UPDATE SET units = b.units + excluded.units`,
);

interface Billed {
  readonly accountId: string;
  readonly capability: string;
  readonly units: bigint;
}

export async function billedUnits(db: Queryable, accountId: string): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ capability: string; units: bigint }>(selectBilled, [accountId]);
  return new Map(rows.map((row) => [row.capability, row.units]));
}

/** The module's own count of what it accepted, which the doctor compares with the journal. */
export function sendBilled(tx: Queryable, accounts: Buffer, items: readonly Billed[]): void {
  const sums = new Map<string, Billed>();
  for (const { accountId, capability, units } of items) {
    const key = `${accountId}\n${capability}`;
    sums.set(key, { accountId, capability, units: (sums.get(key)?.units ?? 0n) + units });
  }
  const rows = [...sums.values()].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  void tx.query(countBilled, [
    accounts,
    textArray(rows.map((row) => row.accountId)),
    textArray(rows.map((row) => row.capability)),
    int8Array(rows.map((row) => row.units)),
  ]);
}
