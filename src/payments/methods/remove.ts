// Deletes a payment method. After the first commit nothing here uses it, then the provider deletes it, then its row is deleted. A call
// that got no answer can be repeated: it continues where the last one stopped.

import type { Enter } from '../../core/callers/enter.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { problem } from '../../problems/problem.ts';
import { PaymentProviderError } from '../../vendors/payments/port.ts';
import { providerOf } from '../at-provider.ts';
import { isPaidWith } from '../subscriptions/store.ts';
import type { PaymentCore } from '../topups/create.ts';
import { findMethod, forgetMethod, type MethodRow, removeMethod } from './store.ts';

const findUses = statement(
  'payment_method_uses',
  `SELECT r.method_id, w.recharge_attempt_id AS attempt
     FROM core.recharge r, core.wallet w
    WHERE r.account_id = $1 AND w.account_id = $1 AND (r.enabled OR w.recharge_attempt_id IS NOT NULL)`,
);

/**
 * Answers false when the account has no such method. Throws STATE_CONFLICT while auto-recharge or a subscription uses it, VENDOR_ERROR and VENDOR_DOWN when
 * the provider did not answer: the method is of no use any more, and the call can be repeated.
 */
export async function deleteMethod(
  core: PaymentCore,
  accountId: string,
  enter: Enter,
  methodId: string,
): Promise<boolean> {
  const method = await core.db.transaction(async (tx) => {
    const { nowMs } = await enter(tx);
    const found = await findMethod(tx, accountId, methodId);
    if (found === null || found.removed_at !== null) return found;
    await requireUnused(tx, found);
    await removeMethod(tx, found, nowMs);
    return found;
  });
  if (method === null) return false;
  try {
    // One of another provider than today's cannot be charged, nor reached, from here.
    await providerOf(core.payments, method)?.detach(method.method_ref);
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    const message = 'The payment provider has not forgotten it yet. Here it is of no use any more; repeat the call.';
    throw problem(error.kind === 'refused' ? 'VENDOR_ERROR' : 'VENDOR_DOWN', { message, cause: error });
  }
  await forgetMethod(core.db, method);
  return true;
}

async function requireUnused(tx: Queryable, method: MethodRow): Promise<void> {
  const { rows } = await tx.query<{ method_id: string | null }>(findUses, [method.account_id]);
  const isUsed = rows.some(
    ({ method_id }) => method_id === method.method_id || (method_id === null && method.is_default),
  );
  if (await isPaidWith(tx, method.account_id, method.method_ref))
    throw problem('STATE_CONFLICT', {
      message: 'A subscription is paid with this payment method. Cancel it first.',
      detail: 'in_use',
    });
  if (isUsed)
    throw problem('STATE_CONFLICT', {
      message: 'Auto-recharge uses this payment method. Disable it, or have it use another one, first.',
      detail: 'in_use',
    });
}
