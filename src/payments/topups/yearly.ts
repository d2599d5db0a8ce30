// Yearly purchase limit above which an account's owner must be verified (KYC_ABOVE_USD). The service verifies nobody itself.

import { findAccount } from '../../core/accounts/accounts.ts';
import { setKycStatus } from '../../core/accounts/changes.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { DAY_MS } from '../../lib/time.ts';

const YEAR_MS = 365 * DAY_MS;

// What may still be paid counts as paid.
const sumOfYear = statement(
  'topup_sum_of_year',
  `SELECT coalesce(sum(amount_nanos), 0) AS bought FROM core.topup
    WHERE account_id = $1 AND created_at > $2
      AND (status IN ('succeeded', 'review') OR (status = 'pending' AND expires_at > $3))`,
);

/** Whether the owner is to be verified before `amountNanos` more are bought; kyc_status says so from then on. Under the account's lock. */
export async function mustBeVerified(
  tx: Transaction,
  accountId: string,
  amountNanos: bigint,
  { aboveNanos, nowMs }: { readonly aboveNanos: bigint | null; readonly nowMs: number },
): Promise<boolean> {
  if (aboveNanos === null) return false;
  const account = await findAccount(tx, accountId);
  if (account?.kycStatus === 'verified') return false;
  if ((await boughtInYear(tx, accountId, nowMs)) + amountNanos <= aboveNanos) return false;
  if (account?.kycStatus === 'none') await setKycStatus(tx, accountId, 'required');
  return true;
}

async function boughtInYear(db: Queryable, accountId: string, nowMs: number): Promise<bigint> {
  const { rows } = await db.query<{ bought: bigint }>(sumOfYear, [
    accountId,
    timestamp(nowMs - YEAR_MS),
    timestamp(nowMs),
  ]);
  return rows[0]?.bought ?? 0n;
}
