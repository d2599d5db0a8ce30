// Writes outcomes of mails: recipients, the mail, its money and its events are one transaction. Outcomes of an account that come together share
// one. A hold is settled when the last mail of its call has ended: captured for the recipients whose mail a relay took, or may have.
import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import { freeIdempotencyKey } from '../../../core/idempotency/write.ts';
import { releaseHold, settleHold } from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { Coalescer } from '../../../lib/coalesce.ts';
import { SENDING } from '../limits.ts';
import { isPending, isTaken, type MessageRow, type RecipientRow, statusOf } from '../messages/row.ts';
import type { Outcome, Written } from './outcome.ts';
import { eventsOf, suppressionsOf } from './outcome-events.ts';
import { lockHolds, sendMessageStates, sendRecipientStates } from './outcome-store.ts';

const OUTCOMES_PER_COMMIT = 50;

export class Outcomes {
  readonly #writing: Coalescer<Outcome, Written | null>;

  constructor(db: Database) {
    this.#writing = new Coalescer({
      batchMax: OUTCOMES_PER_COMMIT,
      run: (accountId, outcomes) => db.transaction((tx) => writeOutcomes(tx, accountId, outcomes), accountId),
    });
  }

  /** Null: there is no such mail. */
  write(accountId: string, outcome: Outcome): Promise<Written | null> {
    return this.#writing.add(accountId, outcome);
  }
}

interface Mail {
  readonly before: MessageRow;
  row: MessageRow;
  recipients: RecipientRow[];
  /** Recipients that an outcome has changed. */
  readonly changed: Set<number>;
  outcome: Outcome | null;
}

export async function writeOutcomes(
  tx: Transaction,
  accountId: string,
  outcomes: readonly Outcome[],
): Promise<(Written | null)[]> {
  const nowMs = await clockNow(tx);
  const { rows, recipients } = await lockHolds(tx, accountId, [...new Set(outcomes.map(({ emailId }) => emailId))]);
  const mails = new Map<string, Mail>(
    rows.map((row) => [
      row.email_id,
      { before: row, row, recipients: [...(recipients.get(row.email_id) ?? [])], changed: new Set(), outcome: null },
    ]),
  );
  const open = new Set([...mails.values()].filter(hasPending).map(({ row }) => row.hold_id));
  for (const outcome of outcomes) {
    const mail = mails.get(outcome.emailId);
    if (mail !== undefined) take(mail, outcome, nowMs);
  }
  const touched = [...mails.values()].filter(({ outcome }) => outcome !== null);
  sendRecipientStates(tx, accountId, touched);
  sendMessageStates(tx, accountId, touched);
  const dueMs = touched.flatMap(({ row }) => (row.due_at === null ? [] : [row.due_at]));
  if (dueMs.length > 0) await openTurn(tx, accountId, SENDING, Math.min(...dueMs));
  const suppressions = await suppressionsOf(tx, accountId, touched, nowMs);
  sendEvents(tx, eventsOf(accountId, touched, suppressions), nowMs);
  for (const { freesKey } of outcomes) if (freesKey != null) await freeIdempotencyKey(tx, accountId, freesKey);
  const settled = await settleAll(tx, [...mails.values()], open);
  return outcomes.map(({ emailId }) => {
    const mail = mails.get(emailId);
    if (mail === undefined) return null;
    const money = settled.get(mail.row.hold_id) ?? { capturedNanos: null, balanceNanos: null };
    return { row: mail.row, recipients: mail.recipients, ...money };
  });
}

const hasPending = ({ recipients }: Pick<Mail, 'recipients'>) => recipients.some(({ status }) => isPending(status));

/** Applies an outcome to the rows as they are read. */
function take(mail: Mail, outcome: Outcome, nowMs: number): void {
  const { results, from, attempt, vendor, retryMs } = outcome;
  // What another attempt found marked it has ended as indeterminate: those recipients are pending no more.
  const isLate = attempt !== undefined && attempt !== mail.row.attempt;
  for (const { number, status, code, detail } of results) {
    const recipient = mail.recipients.find((one) => one.number === number);
    if (recipient === undefined || isPending(recipient.status) !== (from === 'pending')) continue;
    if (isLate && !isTaken(status)) continue;
    const changed = {
      ...recipient,
      status,
      code,
      detail,
      sending: false,
      taken: recipient.taken || isTaken(status),
      changed_at: nowMs,
    };
    mail.recipients = mail.recipients.map((one) => (one.number === number ? changed : one));
    mail.changed.add(number);
  }
  const pending = hasPending(mail);
  const wasTaken = mail.recipients.some(({ taken }) => taken);
  mail.outcome = outcome;
  mail.row = {
    ...mail.row,
    status: statusOf(mail.recipients),
    vendor: vendor ?? mail.row.vendor,
    due_at: pending ? (isLate ? mail.row.due_at : (retryMs ?? mail.row.due_at)) : null,
    deferrals: mail.row.deferrals + (retryMs === undefined || isLate ? 0 : 1),
    sent_at: mail.row.sent_at ?? (wasTaken ? nowMs : null),
  };
}

/** Settles the holds whose last mail has ended by this. The wallet is locked last. */
async function settleAll(tx: Transaction, mails: readonly Mail[], open: ReadonlySet<string>) {
  const settled = new Map<string, { readonly capturedNanos: bigint; readonly balanceNanos: bigint }>();
  const byHold = [...Map.groupBy(mails, ({ row }) => row.hold_id)];
  const ended = byHold.filter(([holdId, of]) => open.has(holdId) && !of.some(hasPending));
  const accepted = ended.flatMap(([, of]) => acceptedOf(of));
  if (accepted.length > 0) await countAccepted(tx, accepted);
  for (const [holdId, of] of ended) {
    const [{ row }] = of as [Mail];
    const taken = BigInt(of.flatMap(({ recipients }) => recipients).filter((one) => one.taken).length);
    const settlement =
      taken === 0n
        ? await releaseHold(tx, row.account_id, holdId)
        : await settleHold(tx, row.account_id, holdId, {
            capturedNanos: taken * row.unit_nanos,
            units: taken,
            isCounted: true,
          });
    if (settlement?.settledNow !== true)
      throw new Error(`the hold of ${row.email_id} is ${settlement?.status ?? 'gone'}`);
    settled.set(holdId, settlement);
  }
  return settled;
}

function acceptedOf(mails: readonly Mail[]) {
  return mails.flatMap(({ row, recipients }) => {
    const units = BigInt(recipients.filter(({ taken }) => taken).length);
    return units === 0n ? [] : [{ accountId: row.account_id, capability: row.capability, units }];
  });
}
