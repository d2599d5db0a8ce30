// Mails to the account's owners about a failed renewal: on the day, on the third and on the sixth.
import type { Transaction } from '../../db/database.ts';
import { usdText } from '../../lib/money.ts';
import { mailOwners } from '../../people/mail-owners.ts';
import { GRACE_MS } from './machine.ts';
import type { SubscriptionRow } from './store.ts';

export function remind(tx: Transaction, row: SubscriptionRow, nowMs: number): Promise<void> {
  const [subject, ...paragraphs] = wordsOf(row, nowMs);
  return mailOwners(tx, row.account_id, { subject, paragraphs }, nowMs);
}

function wordsOf(row: SubscriptionRow, nowMs: number): [string, ...string[]] {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const ends = day((row.past_due_since ?? nowMs) + GRACE_MS);
  const until = `The tier stays until ${ends} (UTC). If nothing is paid by then, the subscription is cancelled and its tier ends. Nothing is deleted; what exceeds the limits of the tier below cannot grow.`;
  if (row.invoice_status === 'review')
    return [
      `The payment for tier ${row.label} is being examined`,
      `For another month of tier ${row.label} of account ${row.account_id} something else was paid than its price of ${usdText(row.price_nanos)} USD. The operator of the service was told.`,
      until,
    ];
  const again = row.invoice_next_at === null ? '' : ` It is tried again on ${day(row.invoice_next_at)}.`;
  const byHand = row.invoice_pay_url === null ? [] : [`Pay it by hand, with any card: ${row.invoice_pay_url}`];
  return [
    `The payment for tier ${row.label} failed`,
    `The ${usdText(row.price_nanos)} USD for another month of tier ${row.label} of account ${row.account_id} could not be charged.${again}`,
    ...byHand,
    until,
    'Please see to it that the card can be charged, or begin anew afterwards with account.tier.upgrade and another card.',
  ];
}
