// The account's one customer object at the provider, created when something of its payer must be stored.

import { lockCaller } from '../core/callers/lock.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { PaymentProvider } from '../vendors/payments/port.ts';

const find = statement(
  'payment_customer_find',
  'SELECT customer_ref FROM core.payment_customer WHERE account_id = $1 AND provider = $2 AND test_mode = $3',
);
const insert = statement(
  'payment_customer_insert',
  `INSERT INTO core.payment_customer (account_id, provider, test_mode, customer_ref) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account_id, provider, test_mode) DO NOTHING`,
);

/** Its ref. Outside of transactions: the provider may be asked. Throws PaymentProviderError. */
export async function customerOf(
  { db, provider }: { readonly db: Database; readonly provider: PaymentProvider },
  accountId: string,
  email: string | null,
): Promise<string> {
  const key = [accountId, provider.name, provider.testMode];
  const known = await db.query<{ customer_ref: string }>(find, key);
  if (known.rows[0] !== undefined) return known.rows[0].customer_ref;
  const made = await provider.ensureCustomer({ accountId, email });
  return db.transaction(async (tx) => {
    await lockCaller(tx, accountId);
    await tx.query(insert, [...key, made]);
    const { rows } = await tx.query<{ customer_ref: string }>(find, key);
    return rows[0]?.customer_ref ?? made;
  });
}
