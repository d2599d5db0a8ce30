// Effects of outcomes: events of the mail, and suppression of addresses.
import type { NewEvent } from '../../../core/events/outbox.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { BOUNCE_DAYS, BOUNCES_MAX } from '../limits.ts';
import { emailRecord } from '../messages/record.ts';
import type { MailStatus } from '../messages/row.ts';
import { type SuppressionReason, suppress } from '../suppressions/suppressed.ts';
import type { Outcome } from './outcome.ts';
import type { ChangedMail } from './outcome-store.ts';

/** A mail that was given up after its last deferral is told as a bounce. */
const eventTypes: Partial<Record<MailStatus, string>> = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  deferred: 'email.deferred',
  bounced: 'email.bounced',
  failed: 'email.bounced',
  cancelled: 'email.cancelled',
};

const insertBounce = statement(
  'email_insert_bounce',
  `INSERT INTO email.bounce (account_id, address, email_id, bounced_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account_id, address, email_id) DO NOTHING`,
);
const countBounces = statement(
  'email_count_bounces',
  `SELECT count(*)::int AS bounces FROM email.bounce b WHERE b.account_id = $1 AND b.address = $2 AND b.bounced_at > $3`,
);

type Told = ChangedMail & { readonly outcome: Outcome | null };

interface Suppression {
  readonly mail: ChangedMail;
  readonly address: string;
  readonly reason: SuppressionReason;
}

/** Suppresses addresses that do not exist (status 5.1.x), and those that bounced three times in 30 days. */
export async function suppressionsOf(
  tx: Transaction,
  accountId: string,
  mails: readonly Told[],
  nowMs: number,
): Promise<Suppression[]> {
  const suppressions: Suppression[] = [];
  for (const mail of mails) {
    for (const { number, address, status, code } of mail.recipients) {
      if (!mail.changed.has(number) || status !== 'bounced') continue;
      const { email_id: emailId } = mail.row;
      const isGone =
        code?.startsWith('5.1.') === true || (await bounces(tx, accountId, address, emailId, nowMs)) >= BOUNCES_MAX;
      if (isGone && (await suppress(tx, { accountId, address, reason: 'bounce', emailId, nowMs }))) {
        suppressions.push({ mail, address, reason: 'bounce' });
      }
    }
  }
  return suppressions;
}

async function bounces(
  tx: Transaction,
  accountId: string,
  address: string,
  emailId: string,
  nowMs: number,
): Promise<number> {
  const lower = address.toLowerCase();
  await tx.query(insertBounce, [accountId, lower, emailId, timestamp(nowMs)]);
  const { rows } = await tx.query<{ bounces: number }>(countBounces, [
    accountId,
    lower,
    timestamp(nowMs - BOUNCE_DAYS * DAY_MS),
  ]);
  return rows[0]?.bounces ?? 0;
}

export function eventsOf(accountId: string, mails: readonly Told[], suppressions: readonly Suppression[]): NewEvent[] {
  const ofMails = mails.flatMap((mail) => {
    const changed = mail.recipients.filter(({ number }) => mail.changed.has(number));
    const byType = Map.groupBy(changed, ({ status }) => eventTypes[status]);
    return [...byType].flatMap(([type, of]) =>
      type === undefined
        ? []
        : [mailEvent(accountId, mail, type, { recipients: of.map(({ address }) => address) }, mail.outcome?.requestId)],
    );
  });
  const suppressed = suppressions.map(({ mail, address, reason }) =>
    mailEvent(accountId, mail, 'email.auto_suppressed', { address, reason }),
  );
  return [...ofMails, ...suppressed];
}

export function mailEvent(
  accountId: string,
  { row, recipients }: Pick<ChangedMail, 'row' | 'recipients'>,
  type: string,
  beside: Readonly<Record<string, unknown>>,
  requestId: string | null = null,
): NewEvent {
  return { accountId, type, data: { object: emailRecord(row, recipients), ...beside }, requestId };
}
