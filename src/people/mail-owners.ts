// Mail to an account's owners about its money: to the bound address and to the owners' own, unless they opted out. It commits with the
// transaction that it reports.

import { findAccount } from '../core/accounts/accounts.ts';
import type { Transaction } from '../db/database.ts';
import { html } from '../lib/html.ts';
import { sendMail } from './mail/mail.ts';
import { ownerAddresses } from './persons.ts';

export interface OwnerMail {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

export async function mailOwners(
  tx: Transaction,
  accountId: string,
  { subject, paragraphs }: OwnerMail,
  nowMs: number,
): Promise<void> {
  const account = await findAccount(tx, accountId);
  if (account?.mails !== true) return;
  const text = `${paragraphs.join('\n\n')}\n`;
  const body = html`${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}`.text;
  for (const to of await ownerAddresses(tx, accountId))
    await sendMail(tx, { to, subject, text, html: body, accountId }, nowMs);
}
