// Changes of a group by hand. They run under the wallet lock, so that each happens wholly before or wholly after any capture. A change that
// changes nothing leaves no trace.

import { runWrite } from '../../../core/idempotency/write.ts';
import type { Transaction } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../problems.ts';
import type { ErrorsState } from '../state.ts';
import { type ActivityType, sendActivity } from './activity-store.ts';
import { groupDetail } from './group-detail.ts';
import { findGroup, type GroupRow } from './group-store.ts';

/** What was done, for the activity log; null when nothing was to do. */
export type Change = { readonly type: ActivityType; readonly subject: string | null } | null;

/** The number of a group of the account. Throws GROUP_NOT_FOUND. */
export function groupNumber(state: ErrorsState, accountId: string, errorGroupId: string): bigint {
  const groupId = state.ids.parseGroup(accountId, errorGroupId);
  if (groupId === null) throw groupNotFound();
  return groupId;
}

export function groupNotFound() {
  return problem('GROUP_NOT_FOUND', { param: 'error_group_id' });
}

/** Runs `change` on the locked group and answers the group in full as it then is. Throws GROUP_NOT_FOUND. */
export function changeGroup(
  ctx: CallContext,
  state: ErrorsState,
  errorGroupId: string,
  change: (tx: Transaction, group: GroupRow, nowMs: number) => Promise<Change>,
): Promise<{ data: unknown; replayed: boolean }> {
  const { accountId } = ctx;
  return runWrite(ctx, async (tx, { nowMs }) => {
    const groupId = groupNumber(state, accountId, errorGroupId);
    const group = await findGroup(tx, accountId, groupId);
    if (group === null) throw groupNotFound();
    const done = await change(tx, group, nowMs);
    if (done !== null) sendActivity(tx, [{ accountId, groupId, keyId: ctx.principal.id, ...done }], nowMs);
    return groupDetail(tx, state, accountId, groupId);
  });
}
