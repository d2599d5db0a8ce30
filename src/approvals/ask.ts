// Asks people to approve a call: the row, the event and the mail commit together. At most so many calls of an account wait at once.
import { accountRecord, findAccount } from '../core/accounts/accounts.ts';
import { lockWallet } from '../core/callers/lock.ts';
import { sendEvents } from '../core/events/outbox.ts';
import type { Services } from '../kit/services.ts';
import { newId } from '../lib/ids.ts';
import { mailApprovers } from './mail.ts';
import type { Rule } from './rules.ts';
import { insertApproval, PENDING_MAX, pendingOf } from './store.ts';

export type ApprovalServices = Pick<Services, 'db' | 'secrets' | 'log' | 'baseUrl'>;

export interface Asking {
  readonly accountId: string;
  /** Under which the call was looked at. */
  readonly rulesVersion: bigint | null;
  readonly rule: Rule;
  readonly keyId: string;
  readonly capability: string;
  readonly callHash: string;
  readonly input: string | null;
  readonly costNanos: bigint;
  readonly requestId: string;
}

/** The approval that the call waits for; null: too many wait already. */
export async function ask(core: ApprovalServices, asking: Asking) {
  const { accountId, rule, keyId, capability, costNanos, requestId } = asking;
  return core.db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, accountId);
    if (wallet === null || wallet.rulesVersion !== asking.rulesVersion) return 'rules_changed';
    const { nowMs } = wallet;
    const { pending, recent } = await pendingOf(tx, accountId);
    if (pending >= PENDING_MAX) return null;
    const row = {
      approval_id: newId('apr_', nowMs),
      rule_name: rule.name,
      key_id: keyId,
      capability,
      call_hash: asking.callHash,
      input: asking.input,
      cost_nanos: costNanos,
      approvers: rule.approvers === null ? null : JSON.stringify(rule.approvers),
      reason_required: rule.reasonRequired,
      request_id: requestId,
      created_at: nowMs,
      expires_at: nowMs + rule.expiresMs,
    };
    await insertApproval(tx, accountId, row);
    await mailApprovers(tx, core, accountId, row, recent);
    const account = await findAccount(tx, accountId);
    if (account !== null) {
      const object = accountRecord(account);
      const data = { object, reason: 'approval_requested', approval_id: row.approval_id, capability };
      sendEvents(tx, [{ accountId, type: 'account.updated', data, requestId: null }], nowMs);
    }
    return row;
  });
}
