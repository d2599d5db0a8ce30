// The mails about a renewal that failed, to who owns the account: on the day, on the third and on the sixth.
import type { Transaction } from '../../../db/database.ts';
import { html } from '../../../lib/html.ts';
import { usdText } from '../../../lib/money.ts';
import type { Account } from '../../accounts/accounts.ts';
import { sendMail } from '../../mail/mail.ts';
import { ownerAddresses } from '../../people/persons.ts';
import { GRACE_MS } from './machine.ts';
import type { SubscriptionRow } from './store.ts';

/** Where nobody owns it by a sign-in, to the address that is bound to the account. */
export async function remind(tx: Transaction, account: Account, row: SubscriptionRow, nowMs: number): Promise<void> {
  if (!account.mails) return;
  const owners = await ownerAddresses(tx, row.account_id);
  const bound = account.emailBound && account.email !== null ? [account.email] : [];
  const addresses = owners.length > 0 ? owners : bound;
  const [subject, ...paragraphs] = wordsOf(row, nowMs);
  const text = `${paragraphs.join('\n\n')}\n`;
  const body = html`${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}`.text;
  for (const to of addresses) await sendMail(tx, { to, subject, text, html: body, accountId: row.account_id }, nowMs);
}

function wordsOf(row: SubscriptionRow, nowMs: number): [string, ...string[]] {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const again = row.invoice_next_at === null ? '' : ` It is tried again on ${day(row.invoice_next_at)}.`;
  return [
    `The payment for tier ${row.label} failed`,
    `The ${usdText(row.price_nanos)} USD for another month of tier ${row.label} of account ${row.account_id} could not be charged.${again}`,
    `The tier stays until ${day((row.past_due_since ?? nowMs) + GRACE_MS)} (UTC). If nothing is paid by then, the subscription is cancelled and ` +
      'its tier ends. Nothing is deleted; what exceeds the limits of the tier below cannot grow.',
    'Please see to it that the card can be charged, or begin anew afterwards with account.tier.upgrade and another card.',
  ];
}
