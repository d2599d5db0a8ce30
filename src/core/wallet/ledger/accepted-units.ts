// Counts of billable units that modules accepted, written by their effects in the same transaction but independently of the ledger. `qm doctor`
// compares the two: a unit charged but not counted, or the reverse, is a finding.
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

export interface AcceptedUnits {
  readonly accountId: string;
  /** What the charge is booked under. */
  readonly capability: string;
  readonly units: bigint;
}

const addUnits = statement(
  'accepted_add_units',
  `INSERT INTO core.accepted_units AS a (account_id, capability, units)
   SELECT w.account_id, u.capability, u.units
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::bigint[]) u(account_id, capability, units)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, capability) DO UPDATE SET units = a.units + excluded.units`,
);
const selectUnits = statement(
  'accepted_select_units',
  'SELECT a.capability, a.units FROM core.accepted_units a WHERE a.account_id = $1',
);

/** Sends the sums of what was accepted; an effect calls it once for all its items. */
export function countAccepted(tx: Queryable, items: readonly AcceptedUnits[]): Promise<unknown> {
  const sums = new Map<string, AcceptedUnits>();
  for (const { accountId, capability, units } of items) {
    const id = `${accountId}\n${capability}`;
    sums.set(id, { accountId, capability, units: (sums.get(id)?.units ?? 0n) + units });
  }
  // In one order everywhere: two transactions never wait for each other.
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const accounts = rows.map(({ accountId }) => accountId);
  return tx.query(addUnits, [
    textArray([...new Set(accounts)]),
    textArray(accounts),
    textArray(rows.map((row) => row.capability)),
    int8Array(rows.map((row) => row.units)),
  ]);
}

/** By capability. */
export async function acceptedUnits(db: Queryable, accountId: string): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ capability: string; units: bigint }>(selectUnits, [accountId]);
  return new Map(rows.map((row) => [row.capability, row.units]));
}
