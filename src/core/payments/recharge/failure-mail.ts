// The mail to who owns an account whose recharge failed: what happened, what comes next, how to pay by hand. It goes out with the change.
import type { Transaction } from '../../../db/database.ts';
import { html } from '../../../lib/html.ts';
import { usdText } from '../../../lib/money.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { sendMail } from '../../mail/mail.ts';
import { ownerAddresses } from '../../people/persons.ts';
import type { AttemptRow } from './store.ts';

/** `willRetryAt` null: it is not tried again; then it is disabled. */
export async function mailFailure(
  tx: Transaction,
  attempt: AttemptRow,
  willRetryAt: string | null,
  nowMs: number,
): Promise<void> {
  const { account_id: accountId, amount_nanos, failure_code } = attempt;
  const [owners, account] = await Promise.all([ownerAddresses(tx, accountId), findAccount(tx, accountId)]);
  // Who wants no mail of payments gets none.
  if (account === null || !account.mails) return;
  const bound = account.emailBound && account.email !== null ? [account.email] : [];
  const what = `${usdText(amount_nanos)} USD could not be charged to the payment method of account ${accountId} (${failure_code}). Nothing was credited.`;
  const next =
    willRetryAt === null
      ? 'Auto-recharge is disabled now; account.autorecharge.configure enables it again.'
      : `It is tried again at ${willRetryAt}, if the balance is still below the trigger.`;
  const byHand = 'To pay by hand, call account.topup and open the link that it answers.';
  const subject = willRetryAt === null ? 'Auto-recharge is disabled' : 'An automatic recharge failed';
  const mail = {
    ...{ subject, accountId },
    text: `${what}\n\n${next}\n\n${byHand}\n`,
    html: html`<p>${what}</p>\n<p>${next}</p>\n<p>${byHand}</p>\n`.text,
  };
  for (const to of new Set([...owners, ...bound])) await sendMail(tx, { ...mail, to }, nowMs);
}
