// Mail to an account's owners about a failed recharge: what happened, what comes next, how to pay by hand. It commits with the change.
import type { Transaction } from '../../db/database.ts';
import { usdText } from '../../lib/money.ts';
import { mailOwners } from '../../people/mail-owners.ts';
import type { AttemptRow } from './store.ts';

/** `willRetryAt` null: it is not tried again; then it is disabled. */
export function mailFailure(
  tx: Transaction,
  { account_id: accountId, amount_nanos, failure_code }: AttemptRow,
  willRetryAt: string | null,
  nowMs: number,
): Promise<void> {
  const what = `${usdText(amount_nanos)} USD could not be charged to the payment method of account ${accountId} (${failure_code}). Nothing was credited.`;
  const next =
    willRetryAt === null
      ? 'Auto-recharge is disabled now; account.autorecharge.configure enables it again.'
      : `It is tried again at ${willRetryAt}, if the balance is still below the trigger.`;
  const byHand = 'To pay by hand, call account.topup and open the link that it answers.';
  const subject = willRetryAt === null ? 'Auto-recharge is disabled' : 'An automatic recharge failed';
  return mailOwners(tx, accountId, { subject, paragraphs: [what, next, byHand] }, nowMs);
}
