// Lane effect that begins mails: rows, recipients, hold and the answer of the call are one commit. Its locks cover the checks that the sender's
// domain is still proved, of suppressed recipients, and of the account's recipients in this minute.
import { openTurn } from '../../../core/background/turns.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { RECIPIENTS_MAX, SENDING } from '../limits.ts';
import { emailRecord } from '../messages/record.ts';
import type { MessageRow, RecipientRow } from '../messages/row.ts';
import { type NewRecipient, sendMessage, sendRecipients } from '../messages/store.ts';
import { problem } from '../problems.ts';
import { type SuppressionReason, suppressedAmong, suppressionKey } from '../suppressions/suppressed.ts';
import { MinuteCounts, readMinutes, sendMinutes, verifiedAmong } from './begin-store.ts';
import { mailEvent } from './outcome-events.ts';
import type { NewMailRecipient } from './read-mail.ts';

export interface NewMail {
  /** All but what the commit decides. */
  readonly row: Omit<MessageRow, 'hold_id' | 'status' | 'created_at' | 'due_at' | 'send_at' | 'sent_at' | 'deferrals'>;
  readonly source: Buffer | null;
  readonly recipients: readonly NewMailRecipient[];
  /** The account has to have proved the sender's domain. */
  readonly needsVerified: boolean;
  /** Null: now. */
  readonly sendAtMs: number | null;
}

export interface BeginMails {
  readonly mails: readonly NewMail[];
  /** The call makes the first attempt itself, and has so long for it; null: background work does. */
  readonly leaseMs: number | null;
  readonly isBatch: boolean;
  readonly perMinute: number;
}

interface Context {
  readonly suppressed: ReadonlyMap<string, SuppressionReason>;
}

type Item = LaneItem<BeginMails, Context>;

interface Begun {
  readonly row: MessageRow;
  readonly recipients: readonly RecipientRow[];
}

export class BeginEffect implements LaneEffect<BeginMails, Context> {
  readonly name = 'email.begin';

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Context>[]> {
    const recipients = items.flatMap(({ accountId, input }) =>
      input.mails.flatMap((mail) => mail.recipients.map(({ address }) => ({ accountId, address }))),
    );
    const [suppressed, verified, minutes] = await Promise.all([
      suppressedAmong(
        tx,
        recipients.map(({ accountId }) => accountId),
        recipients.map(({ address }) => address),
      ),
      verifiedAmong(tx, items.flatMap(domainsOf)),
      readMinutes(
        tx,
        items.map(({ accountId }) => accountId),
      ),
    ]);
    const counts = new MinuteCounts(minutes);
    return items.map((item) => judge(item, { suppressed, verified, counts }));
  }

  write(tx: Transaction, items: readonly AdmittedItem<BeginMails, Context>[], nowMs: number): string[] {
    const begun = items.map((admitted) => beginMails(tx, admitted, nowMs));
    const rows = begun.flatMap((mails, i) =>
      mails.flatMap(({ recipients }) =>
        recipients.map((one) => ({ ...one, account_id: items[i]?.item.accountId as string })),
      ),
    );
    sendRecipients(tx, rows satisfies readonly NewRecipient[], nowMs);
    sendMinutes(tx, begun.flat(), nowMs);
    for (const [accountId, of] of Map.groupBy(begun.flat(), ({ row }) => row.account_id)) {
      const dueMs = Math.min(...of.flatMap(({ row }) => (row.due_at === null ? [] : [row.due_at])));
      if (dueMs !== Number.POSITIVE_INFINITY) void openTurn(tx, accountId, SENDING, dueMs, { later: dueMs > nowMs });
    }
    const events = begun.flatMap((mails, i) =>
      mails.map((mail) => queuedEvent(mail, items[i]?.item.requestId as string)),
    );
    sendEvents(tx, events, nowMs);
    return begun.map((mails, i) => textOf(mails, items[i]?.item.input.isBatch === true));
  }
}

function domainsOf({ accountId, input }: Item): { accountId: string; domain: string }[] {
  return input.mails.filter((mail) => mail.needsVerified).map(({ row }) => ({ accountId, domain: row.from_domain }));
}

function beginMails(
  tx: Transaction,
  { item, context, holdId }: AdmittedItem<BeginMails, Context>,
  nowMs: number,
): Begun[] {
  const { mails, leaseMs } = item.input;
  return mails.map((mail) => {
    const recipients = recipientRows(mail, item.accountId, context.suppressed, nowMs);
    const sendMs = Math.max(nowMs, mail.sendAtMs ?? nowMs);
    const row: MessageRow = {
      ...mail.row,
      hold_id: holdId as string,
      status: sendMs > nowMs ? 'scheduled' : 'queued',
      created_at: nowMs,
      send_at: sendMs,
      due_at: leaseMs === null ? sendMs : nowMs + leaseMs,
      sent_at: null,
      deferrals: 0,
    };
    const states = recipients.map((one) => (one.status === 'queued' ? { ...one, status: row.status } : one));
    const isOver = states.every(({ status }) => status === 'suppressed');
    const after: MessageRow = isOver ? { ...row, status: 'suppressed', due_at: null } : row;
    sendMessage(tx, { ...after, source: mail.source });
    return { row: after, recipients: states };
  });
}

interface Known {
  readonly suppressed: ReadonlyMap<string, SuppressionReason>;
  /** `account\ndomain`. */
  readonly verified: ReadonlySet<string>;
  readonly counts: MinuteCounts;
}

function judge({ accountId, input }: Item, { suppressed, verified, counts }: Known): ReadVerdict<Context> {
  const unproved = input.mails.find(
    (mail) => mail.needsVerified && !verified.has(`${accountId}\n${mail.row.from_domain}`),
  );
  if (unproved !== undefined) return { kind: 'refuse', problem: notVerified(unproved.row.from_domain) };
  const recipients = input.mails.flatMap((mail) => mail.recipients);
  const left = recipients.filter(({ address }) => !suppressed.has(suppressionKey(accountId, address)));
  if (left.length === 0) return { kind: 'refuse', problem: problem('RECIPIENT_SUPPRESSED', { param: 'to' }) };
  const waitMs = counts.take(accountId, left.length, input.perMinute);
  if (waitMs !== null) {
    const message = `The account sends to ${input.perMinute} recipients a minute. Try again in ${Math.ceil(waitMs / 1_000)} s.`;
    return {
      kind: 'refuse',
      problem: problem('RATE_LIMITED', { detail: 'recipients', message, retryAfterMs: waitMs }),
    };
  }
  return { kind: 'go', context: { suppressed }, units: BigInt(left.length) };
}

export function notVerified(domain: string) {
  return problem('DOMAIN_NOT_VERIFIED', {
    param: 'from',
    detail: domain,
    message: `${domain} is not verified for this account. POST /v1/email/domain/verify says which records prove it.`,
  });
}

function recipientRows(
  { row, recipients }: NewMail,
  accountId: string,
  suppressed: ReadonlyMap<string, SuppressionReason>,
  nowMs: number,
): RecipientRow[] {
  return recipients.slice(0, RECIPIENTS_MAX).map(({ kind, address }, number) => {
    const reason = suppressed.get(suppressionKey(accountId, address));
    return {
      email_id: row.email_id,
      number,
      kind,
      address,
      changed_at: nowMs,
      code: null,
      sending: false,
      taken: false,
      status: reason === undefined ? 'queued' : 'suppressed',
      detail: reason === undefined ? null : `The address is on the suppression list: ${reason}.`,
    };
  });
}

function queuedEvent({ row, recipients }: Begun, requestId: string) {
  return mailEvent(row.account_id, { row, recipients }, 'email.queued', {}, requestId);
}

function textOf(mails: readonly Begun[], isBatch: boolean): string {
  const records = mails.map(({ row, recipients }) => emailRecord(row, recipients));
  return JSON.stringify(isBatch ? { items: records } : records[0]);
}
