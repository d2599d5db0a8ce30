// The end of a hand-over: message state, money and events are one commit. A message that the carrier took, or may have taken, is charged by its
// segments; the hold of a refused one is released.
import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import { releaseHold, settleHold } from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Services } from '../../../kit/services.ts';
import { SMS_WORK } from '../limits.ts';
import { VERIFY_START, verificationIdOf } from '../verify/row.ts';
import { endUnsent } from '../verify/store.ts';
import type { HandOver } from './hand-over.ts';
import { type Link, type MessageRow, smsRecord } from './row.ts';
import { insertParts, type StepEnd, saveStepEnd } from './store.ts';

/** What `detail` says of a message whose carrier did not answer. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

/** Null when another step has the message: then nothing is changed. `answer`: what the key of the call answers from now on. */
export function saveHandOver(
  core: Pick<Services, 'db'>,
  row: MessageRow,
  came: HandOver,
  answer: (tx: Transaction, row: MessageRow) => unknown,
): Promise<MessageRow | null> {
  return core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const after = await saveStepEnd(tx, row, endOf(row, came, nowMs));
    if (after === null) return null;
    if (came.kind === 'accepted' && !after.captured) await insertParts(tx, after, came.references, nowMs);
    tell(tx, after, came.kind === 'failed' ? 'sms.failed' : 'sms.sent', nowMs, row.request_id);
    // The message, the wallet, then the turn: in this order everywhere, for lanes have the wallet when they open a turn.
    if (came.kind === 'failed') await giveBack(tx, after, nowMs);
    else await capture(tx, after, came.link, JSON.stringify(await answer(tx, after)));
    if (after.due_at !== null) await openTurn(tx, after.account_id, SMS_WORK, after.due_at);
    return after;
  });
}

/** An event about the message, as it is now. `requestId`: of the call that led to it, if one did. */
export function tell(tx: Transaction, row: MessageRow, type: string, nowMs: number, requestId: string | null): void {
  const { account_id: accountId } = row;
  sendEvents(tx, [{ accountId, type, data: { object: smsRecord(row) }, requestId }], nowMs);
}

function endOf(row: MessageRow, came: HandOver, nowMs: number): StepEnd {
  const { vendor, from, nanos } = came.link;
  const by = { vendor, from_number: from };
  if (came.kind === 'failed') {
    const why = { error_code: came.errorCode ?? came.code.toLowerCase(), detail: null };
    const none = { captured: row.captured, cost_nanos: 0n, sent_at: null, due_at: null };
    return { ...by, ...why, ...none, status: 'failed', ended_at: nowMs };
  }
  const captured = came.kind === 'accepted' && came.captured;
  return {
    ...by,
    status: 'sent',
    error_code: null,
    detail: came.kind === 'unknown' ? OUTCOME_UNKNOWN : null,
    // The sandbox makes its receipts itself.
    captured,
    cost_nanos: BigInt(nanos),
    sent_at: nowMs,
    ended_at: null,
    due_at: captured ? nowMs : null,
  };
}

/** A code that was not sent ends with its message. */
async function giveBack(tx: Transaction, row: MessageRow, nowMs: number): Promise<void> {
  const { account_id: accountId, sms_id: smsId } = row;
  if (row.capability === VERIFY_START) await endUnsent(tx, accountId, verificationIdOf(smsId), nowMs);
  await releaseHold(tx, accountId, holdOf(row));
}

async function capture(tx: Transaction, row: MessageRow, link: Link, text: string): Promise<void> {
  const { account_id: accountId, capability } = row;
  const units = BigInt(row.segments);
  await countAccepted(tx, [{ accountId, capability, units }]);
  const { priceVersion } = link;
  const captured = { capturedNanos: row.cost_nanos, units, priceVersion, answer: { text } };
  const settled = await settleHold(tx, accountId, holdOf(row), captured);
  if (settled?.settledNow !== true) throw new Error(`the hold of ${row.sms_id} is ${settled?.status ?? 'gone'}`);
}

function holdOf({ hold_id, sms_id }: MessageRow): string {
  if (hold_id === null) throw new Error(`${sms_id} has no hold`);
  return hold_id;
}
