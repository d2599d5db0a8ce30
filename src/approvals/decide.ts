// A person's decision. Who may decide is looked at under the account's lock, so one who was removed meanwhile decides nothing. It is made once:
// a repeat, or another person's, is told what was decided.
import type { Transaction } from '../db/database.ts';
import { usdText } from '../lib/money.ts';
import { DAY_MS, HOUR_MS } from '../lib/time.ts';
import { membersOf } from '../people/persons.ts';
import { invalidField, problem } from '../problems/problem.ts';
import { mayDecide } from './mail.ts';
import { type ApprovalRow, lockApproval, saveDecided, statusOf } from './store.ts';

/** Whoever waits for the decision listens to it. */
export function decisionOf(approvalId: string): string {
  return `approval ${approvalId}`;
}

export const spans = ['once', 'hour', 'day'] as const;
const SPAN_MS = { hour: HOUR_MS, day: DAY_MS };

export interface Deciding {
  readonly accountId: string;
  readonly approvalId: string;
  readonly personId: string;
  readonly decision: 'approve' | 'deny';
  readonly words: string | null;
  /** Of an approval: this call alone, or all that the rule meets and the key makes in that time. */
  readonly span: (typeof spans)[number];
  /** What these may cost together; null: not said. */
  readonly upToNanos: bigint | null;
}

/** Throws NOT_FOUND, INSUFFICIENT_SCOPE, STATE_CONFLICT, VALIDATION_FAILED. */
export async function decide(tx: Transaction, deciding: Deciding, nowMs: number): Promise<ApprovalRow> {
  const { accountId, approvalId, personId, decision, words, span } = deciding;
  const row = await lockApproval(tx, accountId, approvalId);
  if (row === null) throw notFound();
  const person = (await membersOf(tx, accountId)).find((member) => member.personId === personId);
  if (person === undefined || !mayDecide(row, person)) throw mayNotDecide();
  const status = statusOf(row, nowMs);
  if (status !== 'pending') {
    throw problem('STATE_CONFLICT', {
      detail: status,
      message: status === 'expired' ? 'The approval has expired.' : `The approval was decided before: it is ${status}.`,
    });
  }
  if (row.reason_required && words === null)
    throw invalidField('words', 'required', 'The rule asks for a reason: say why in words.');
  const isLasting = decision === 'approve' && span !== 'once';
  const lasts = isLasting
    ? { lasts_until: nowMs + SPAN_MS[span], left_nanos: leftAfter(deciding, row) }
    : { lasts_until: null, left_nanos: null };
  const decided = {
    ...lasts,
    status: decision === 'approve' ? ('approved' as const) : ('denied' as const),
    words,
    decided_by: personId,
    decided_at: nowMs,
    // An approved call has as long to come again as people had to decide.
    expires_at: lasts.lasts_until ?? nowMs + (row.expires_at - row.created_at),
  };
  await saveDecided(tx, accountId, approvalId, decided);
  tx.hint(decisionOf(approvalId));
  return { ...row, ...decided };
}

function leftAfter({ upToNanos }: Deciding, { cost_nanos: cost }: ApprovalRow): bigint {
  if (upToNanos === null) {
    if (cost === 0n) return 0n;
    throw invalidField('up_to_usd', 'required', 'Say in up_to_usd how much the calls may cost together.');
  }
  if (upToNanos < cost)
    throw invalidField('up_to_usd', 'minimum', `up_to_usd must cover this call, which may cost ${usdText(cost)} USD.`);
  return upToNanos;
}

export function notFound() {
  return problem('NOT_FOUND', { param: 'approval_id', message: 'There is no such approval.' });
}

function mayNotDecide() {
  return problem('INSUFFICIENT_SCOPE', {
    detail: 'not_an_approver',
    message: 'Only people whom the rule names decide this call; where it names none, the owners of the account.',
  });
}
