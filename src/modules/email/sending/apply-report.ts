// Applies reports of other servers to sent mail: a bounce, a delay or a complaint. A report counts only if it came back to the mail's own bounce
// address, for only that shows that it is about the mail.

import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { MessageRow, RecipientRow } from '../messages/row.ts';
import { findMessage, recipientsOf } from '../messages/store.ts';
import type { Report } from '../receiving/report.ts';
import { suppress } from '../suppressions/suppressed.ts';
import type { SendingHost } from './attempt.ts';
import { readBounceAddress } from './bounce-token.ts';
import type { Result } from './outcome.ts';
import { mailEvent } from './outcome-events.ts';

const findAccount = statement(
  'email_find_account',
  `/* fan-out: a bounce names the mail alone */
   SELECT m.account_id FROM email.message m WHERE m.email_id = $1`,
);

/** `address`: where the report was sent. Null: no mail of ours is behind it. */
export async function applyReport(
  host: SendingHost,
  address: string,
  report: Report,
): Promise<{ readonly emailId: string; readonly accountId: string } | null> {
  const { db, secrets } = host.core;
  const emailId = readBounceAddress(secrets, address);
  if (emailId === null) return null;
  const accountId = await accountOf(db, emailId);
  if (accountId === null) return null;
  const [row, recipients] = await Promise.all([
    findMessage(db, accountId, emailId),
    recipientsOf(db, accountId, [emailId]),
  ]);
  if (row === null) return null;
  const mail = { row, recipients: recipients.get(emailId) ?? [] };
  if (report.kind === 'complaint') await applyComplaint(host, mail, report);
  else await applyDelivery(host, mail, report);
  return { emailId, accountId };
}

async function accountOf(db: Queryable, emailId: string): Promise<string | null> {
  return (await db.query<{ account_id: string }>(findAccount, [emailId])).rows[0]?.account_id ?? null;
}

interface Mail {
  readonly row: MessageRow;
  readonly recipients: readonly RecipientRow[];
}

async function applyDelivery(host: SendingHost, { row, recipients }: Mail, report: Report): Promise<void> {
  const results = report.recipients.flatMap(({ address, action, status, diagnostic }): Result[] => {
    const recipient = namedBy(recipients, address);
    const after = recipient === null ? null : statusAfter(recipient, action);
    if (recipient === null || after === null) return [];
    return [{ number: recipient.number, status: after, code: status, detail: diagnostic }];
  });
  if (results.length > 0) await host.outcomes.write(row.account_id, { emailId: row.email_id, results, from: 'ended' });
  const delayed = report.recipients.flatMap(({ address, action }) => {
    const recipient = action === 'delayed' ? namedBy(recipients, address) : null;
    return recipient?.status === 'sent' ? [recipient.address] : [];
  });
  if (delayed.length === 0) return;
  const event = mailEvent(row.account_id, { row, recipients }, 'email.deferred', { recipients: delayed });
  await host.core.db.transaction(async (tx) => sendEvents(tx, [event], await clockNow(tx)), row.account_id);
}

/** Null: it stays. A relay that still tries has the mail: it is `sent`, and told as deferred. */
function statusAfter({ status }: RecipientRow, action: string): Result['status'] | null {
  if (status !== 'sent' && status !== 'indeterminate' && status !== 'delivered') return null;
  if (action === 'failed') return 'bounced';
  return action === 'delivered' && status !== 'delivered' ? 'delivered' : null;
}

/** The one that the report names; the only one of a mail when it names none that is known. */
function namedBy(recipients: readonly RecipientRow[], address: string): RecipientRow | null {
  const found = recipients.find((one) => one.address.toLowerCase() === address.toLowerCase());
  return found ?? (recipients.length === 1 ? (recipients[0] as RecipientRow) : null);
}

/** Whoever complains gets no more mail of the account. */
async function applyComplaint(host: SendingHost, mail: Mail, report: Report): Promise<void> {
  const { account_id: accountId, email_id: emailId } = mail.row;
  const named = report.recipients.flatMap(({ address }) => namedBy(mail.recipients, address) ?? []);
  const complained = named.length === 0 && mail.recipients.length === 1 ? mail.recipients : named;
  if (complained.length === 0) return;
  await host.core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    for (const { address } of complained) {
      const isNew = await suppress(tx, { accountId, address, reason: 'complaint', emailId, nowMs });
      // A repeated report tells nothing new.
      if (!isNew) continue;
      const events = [
        mailEvent(accountId, mail, 'email.complained', { recipients: [address] }),
        mailEvent(accountId, mail, 'email.auto_suppressed', { address, reason: 'complaint' }),
      ];
      sendEvents(tx, events, nowMs);
    }
  }, accountId);
}
