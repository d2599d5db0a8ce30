// Lookup of provider objects, and of our ids in addresses, without knowing the account.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

export interface PaymentOwner {
  readonly accountId: string;
  readonly kind: 'topup' | 'recharge' | 'subscription' | 'setup';
  readonly id: string;
}

const insert = statement(
  'payment_ref_insert',
  `INSERT INTO core.payment_ref (ref, account_id, kind, id) VALUES ($1, $2, $3, $4) ON CONFLICT (ref) DO NOTHING`,
);
const find = statement('payment_ref_find', 'SELECT account_id, kind, id FROM core.payment_ref WHERE ref = $1');

/** The same ref again changes nothing. */
export async function keepRef(tx: Queryable, ref: string, { accountId, kind, id }: PaymentOwner): Promise<void> {
  await tx.query(insert, [ref, accountId, kind, id]);
}

/** Keeps those that were not known before; null stands for none. */
export async function keepNewRefs(
  tx: Queryable,
  refs: readonly (string | null)[],
  known: readonly (string | null)[],
  owner: PaymentOwner,
): Promise<void> {
  for (const ref of new Set(refs)) if (ref !== null && !known.includes(ref)) await keepRef(tx, ref, owner);
}

/** Whose top-up it is; null: nobody's. */
export async function ownerOfTopup(db: Queryable, topupId: string): Promise<string | null> {
  const owner = await findRef(db, topupId);
  return owner?.kind === 'topup' ? owner.accountId : null;
}

export async function findRef(db: Queryable, ref: string): Promise<PaymentOwner | null> {
  const { rows } = await db.query<{ account_id: string; kind: PaymentOwner['kind']; id: string }>(find, [ref]);
  const [row] = rows;
  return row === undefined ? null : { accountId: row.account_id, kind: row.kind, id: row.id };
}
