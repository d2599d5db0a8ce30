// SQL of core.payment_method: methods that the provider keeps for later charges. Of a card it has only what its owner recognizes it by.
// Changes hold the wallet's lock.

import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import { iso } from '../../lib/time.ts';
import type { PaymentProvider, SavedMethod } from '../../vendors/payments/port.ts';
import { isOf } from '../at-provider.ts';

export interface MethodRow {
  readonly account_id: string;
  readonly method_id: string;
  readonly provider: string;
  readonly test_mode: boolean;
  readonly method_ref: string;
  readonly type: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly exp_month: number | null;
  readonly exp_year: number | null;
  readonly is_default: boolean;
  readonly removed_at: number | null;
  readonly created_at: number;
}

const COLUMNS = `account_id, method_id, provider, test_mode, method_ref, type, brand, last4, exp_month, exp_year, is_default, removed_at,
          created_at`;

const list = statement(
  'payment_method_list',
  `SELECT ${COLUMNS} FROM core.payment_method WHERE account_id = $1 ORDER BY created_at, method_id`,
);
const insert = statement(
  'payment_method_insert',
  `INSERT INTO core.payment_method (account_id, method_id, provider, test_mode, method_ref, type, brand, last4, exp_month, exp_year,
                                    is_default, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);
const makeDefault = statement(
  'payment_method_make_default',
  'UPDATE core.payment_method SET is_default = (method_id = $2) WHERE account_id = $1',
);
const remove = statement(
  'payment_method_remove',
  'UPDATE core.payment_method SET removed_at = $3, is_default = false WHERE account_id = $1 AND method_id = $2',
);
const forget = statement(
  'payment_method_forget',
  'DELETE FROM core.payment_method WHERE account_id = $1 AND method_id = $2',
);

/** All of the account, oldest first, those that are being removed among them. */
async function allMethods(db: Queryable, accountId: string): Promise<readonly MethodRow[]> {
  return (await db.query<MethodRow>(list, [accountId])).rows;
}

/** Those that can be used, oldest first. */
export async function listMethods(db: Queryable, accountId: string): Promise<readonly MethodRow[]> {
  return (await allMethods(db, accountId)).filter(({ removed_at }) => removed_at === null);
}

/** By its id, also while it is being removed. */
export async function findMethod(db: Queryable, accountId: string, methodId: string): Promise<MethodRow | null> {
  return (await allMethods(db, accountId)).find(({ method_id }) => method_id === methodId) ?? null;
}

/** The one that is charged: by its id, or the default. Only those of this provider can be. */
export function usableMethod(
  methods: readonly MethodRow[],
  methodId: string | null,
  provider: Pick<PaymentProvider, 'name' | 'testMode'>,
): MethodRow | null {
  const usable = methods.filter((method) => isOf(provider, method));
  return usable.find((method) => (methodId === null ? method.is_default : method.method_id === methodId)) ?? null;
}

/**
 * Keeps what the provider has saved; the same again is the same method, and one that was removed stays so. The first becomes the
 * default. Answers its id. The caller holds the wallet's lock.
 */
export async function keepMethod(
  tx: Queryable,
  accountId: string,
  saved: SavedMethod,
  { provider, test_mode }: Pick<MethodRow, 'provider' | 'test_mode'>,
  nowMs: number,
): Promise<string> {
  const all = await allMethods(tx, accountId);
  const known = all.find((method) => method.provider === provider && method.method_ref === saved.ref);
  if (known !== undefined) return known.method_id;
  const methodId = newId('pm_', nowMs);
  const isFirst = all.every(
    (method) => !method.is_default || method.provider !== provider || method.test_mode !== test_mode,
  );
  const card = [saved.type, saved.brand, saved.last4, saved.expMonth, saved.expYear];
  await tx.query(insert, [accountId, methodId, provider, test_mode, saved.ref, ...card, false, timestamp(nowMs)]);
  // One that another provider kept gives way: it cannot be charged here.
  if (isFirst) await tx.query(makeDefault, [accountId, methodId]);
  return methodId;
}

export async function setDefaultMethod(tx: Queryable, accountId: string, methodId: string): Promise<void> {
  await tx.query(makeDefault, [accountId, methodId]);
}

/** From now on nothing uses it; the oldest that is left becomes the default where it was that. */
export async function removeMethod(tx: Queryable, method: MethodRow, nowMs: number): Promise<void> {
  const { account_id: accountId, method_id, provider, test_mode } = method;
  await tx.query(remove, [accountId, method_id, timestamp(nowMs)]);
  if (!method.is_default) return;
  const next = (await listMethods(tx, accountId)).find(
    (one) => one.provider === provider && one.test_mode === test_mode,
  );
  if (next !== undefined) await tx.query(makeDefault, [accountId, next.method_id]);
}

/** After the provider has forgotten it. */
export async function forgetMethod(db: Queryable, { account_id, method_id }: MethodRow): Promise<void> {
  await db.query(forget, [account_id, method_id]);
}

/** As calls show it. */
export function methodRecord(row: MethodRow) {
  return {
    payment_method_id: row.method_id,
    type: row.type,
    brand: row.brand,
    last4: row.last4,
    exp_month: row.exp_month,
    exp_year: row.exp_year,
    is_default: row.is_default,
    test_mode: row.test_mode,
    created_at: iso(row.created_at),
  };
}
