// How a call is told that it waits, or that a person said no. The sentence alone tells an agent what to do next.
import type { Services } from '../kit/services.ts';
import { iso } from '../lib/time.ts';
import { type Problem, problem, type ShownApproval } from '../problems/problem.ts';
import type { ApprovalRow } from './store.ts';

const AGAIN_MS = 10_000;
export const WAIT_SECONDS_MAX = 55;

export function consolePath(approvalId: string): string {
  return `/console/approvals/${approvalId}`;
}

export function shownApproval(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  row: Pick<ApprovalRow, 'approval_id' | 'expires_at'>,
): ShownApproval {
  const id = row.approval_id;
  return {
    approval_id: id,
    status: 'pending',
    url: `${baseUrl}${consolePath(id)}`,
    expires_at: iso(row.expires_at),
    wait_url: `${baseUrl}/v1/account/approvals/wait/${id}?wait_seconds=${WAIT_SECONDS_MAX}`,
  };
}

type Pending = Pick<ApprovalRow, 'approval_id' | 'rule_name' | 'capability' | 'expires_at'>;

/** `row`: null where too many wait already. */
export function approvalRequired(core: Pick<Services, 'baseUrl'>, row: Pending | null): Problem {
  if (row === null) {
    return problem('APPROVAL_REQUIRED', {
      detail: 'too_many_pending',
      message:
        'A person must approve this call first, and too many calls of the account wait for that already. Try again later.',
      retryAfterMs: AGAIN_MS,
    });
  }
  const approval = shownApproval(core, row);
  return problem('APPROVAL_REQUIRED', {
    message:
      `A person must approve this call of ${row.capability} first (rule ${row.rule_name}). Nothing was done. Wait for the decision with ` +
      `GET ${approval.wait_url}, then repeat the same call.`,
    approval,
    retryAfterMs: AGAIN_MS,
  });
}

export function approvalDenied(row: Pick<ApprovalRow, 'capability' | 'words'>, status: 'denied' | 'expired'): Problem {
  if (status === 'expired') {
    return problem('APPROVAL_DENIED', {
      detail: status,
      message: `Nobody decided in time whether this call of ${row.capability} may run. It can be asked for again a day later.`,
    });
  }
  const words = row.words === null ? '' : `: ${row.words}`;
  return problem('APPROVAL_DENIED', {
    detail: status,
    message: `A person denied this call of ${row.capability}${words === '' ? '.' : words}`,
  });
}
