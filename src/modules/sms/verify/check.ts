// Checks a verification code: five tries, serialized by the row lock; a code succeeds once.

import { runWrite } from '../../../core/idempotency/write.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { isCode } from './codes.ts';
import type { VerificationRow } from './row.ts';
import { lockVerification, saveVerification } from './store.ts';

/** Throws NOT_FOUND, and STATE_CONFLICT for one that was approved before. */
export function checkCode(ctx: CallContext, id: string, code: string): Promise<Answer> {
  const { core, accountId } = ctx;
  return runWrite(ctx, async (tx, { nowMs }) => {
    const row = await lockVerification(tx, accountId, id);
    if (row === null)
      throw problem('NOT_FOUND', { param: 'verification_id', message: 'The verification does not exist.' });
    if (row.status === 'approved')
      throw problem('STATE_CONFLICT', { message: 'The code was used already: start another verification.' });
    const after = row.status === 'pending' ? judgeCode(row, isCode(core.secrets, row, code), nowMs) : row;
    if (after !== row) await saveVerification(tx, after);
    return { verification_id: id, status: after.status, attempts_left: after.attempts_left };
  });
}

function judgeCode(row: VerificationRow, isRight: boolean, nowMs: number): VerificationRow {
  if (row.expires_at <= nowMs) return { ...row, status: 'expired', attempts_left: 0, ended_at: nowMs };
  if (isRight) return { ...row, status: 'approved', ended_at: nowMs };
  const left = row.attempts_left - 1;
  return { ...row, attempts_left: left, ...(left === 0 ? { status: 'failed', ended_at: nowMs } : {}) };
}
