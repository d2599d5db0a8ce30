// The send path of one message: accepts it, hands it over and answers; with the verification code it may carry.

import { beginWork } from '../../../core/wallet/charge/charge.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { MESSAGE_BYTES, perMinute } from '../limits.ts';
import { smsProblem } from '../problems.ts';
import type { SmsState } from '../state.ts';
import { beginMessage, type NewCode } from './begin.ts';
import type { Composed } from './compose.ts';
import { type HandOver, handOver } from './hand-over.ts';
import { saveHandOver } from './outcome.ts';
import type { MessageRow } from './row.ts';
import { messageTable } from './store.ts';

export interface Sending {
  readonly composed: Composed;
  /** What is handed over. */
  readonly text: string;
  readonly code: NewCode | null;
  /** It is accepted, or was before. */
  begun?(): void;
  /** What the call answers. */
  answer(tx: Transaction, row: MessageRow): unknown;
}

/** Throws what the lane refuses, SMS_SEND_FAILED, RECIPIENT_SUPPRESSED and what says that no carrier can be reached. */
export async function sendMessage(
  ctx: CallContext,
  state: SmsState,
  { composed, text, code, begun: accepted, answer }: Sending,
): Promise<Answer> {
  const { core, tier } = ctx;
  const { row, heldNanos } = composed;
  const begun = await beginWork(ctx, {
    units: BigInt(row.segments),
    amountNanos: heldNanos,
    owner: `sms:${row.sms_id}`,
    answersAtEnd: true,
    effect: beginMessage,
    input: { row, perMinuteMax: core.limitsRates ? perMinute[tier] : null, code },
    sequences: 0,
    bytes: MESSAGE_BYTES,
    rows: code === null ? 1 : 2,
  });
  if (begun.replayed) return begun;
  accepted?.();
  // From here on the message goes its way, whether or not the client waits.
  const message = await messageTable.find(core.db.hot, ctx, row.sms_id);
  if (message === null) throw new Error(`${row.sms_id} is gone`);
  const came = await handOver(state, message, text, state.stopping.signal);
  let data: unknown;
  const after = await saveHandOver(core, message, came, async (tx, ended) => {
    data = await answer(tx, ended);
    return data;
  });
  if (after === null) {
    const message =
      'The carrier took so long that the message was ended as handed over; what became of it is not known.';
    throw problem('VENDOR_TIMEOUT', { message });
  }
  if (came.kind === 'failed') throw failureOf(came);
  if (came.kind === 'unknown')
    ctx.warnings.push('The answer of the carrier was lost: the message may have been sent, and is charged.');
  const { vendor, region, markupPct } = came.link;
  const { failover } = came;
  return {
    data,
    costNanos: after.cost_nanos,
    balanceNanos: begun.balanceNanos + heldNanos - after.cost_nanos,
    served: { vendor, region, markupPct, ...(failover === null ? {} : { failover }) },
  };
}

function failureOf({ code, errorCode, message, retryAfterMs }: Extract<HandOver, { kind: 'failed' }>) {
  if (errorCode === 'opted_out') return problem('RECIPIENT_SUPPRESSED', { param: 'to', message });
  switch (code) {
    case 'VALIDATION_FAILED':
    case 'VENDOR_ERROR':
    case 'CONTENT_REFUSED':
      return smsProblem('SMS_SEND_FAILED', { detail: errorCode ?? 'refused', message });
    default:
      return problem(code, { message, retryAfterMs });
  }
}
