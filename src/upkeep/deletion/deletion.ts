// Deletion of an account. It stops working at once. For a week a person can restore all of it; then it is purged.

import { type Account, accountRecord, findAccount, setSuspended } from '../../core/accounts/accounts.ts';
import { operatorAccount } from '../../core/accounts/operator.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { forgetKeyHere } from '../../core/hear-siblings.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { usdText } from '../../lib/money.ts';
import { DAY_MS, iso } from '../../lib/time.ts';
import { isLive } from '../../payments/subscriptions/machine.ts';
import { currentSubscription } from '../../payments/subscriptions/store.ts';
import { problem } from '../../problems/problem.ts';

/** A person can restore it for so long. */
export const RESTORE_MS = 7 * DAY_MS;
/** Its webhooks are told what happens for so long. */
export const SILENT_AFTER_MS = DAY_MS;

/** As webhooks say why they are disabled. */
export const DELETED = 'account_deleted';

const mark = statement(
  'account_mark_deleted',
  `UPDATE core.account SET purge_at = $2, purge_step = 'asked', was_suspended = false, updated_at = $3 WHERE account_id = $1`,
);
// What is being purged is not whole any more, and the keys of what is due for it are remembered as dead.
const unmark = statement(
  'account_unmark_deleted',
  `UPDATE core.account SET purge_at = NULL, purge_step = NULL, updated_at = $2
    WHERE account_id = $1 AND purge_step IN ('asked', 'silent') AND purge_at > core.clock_now()`,
);
const readWas = statement(
  'account_read_was_suspended',
  'SELECT a.was_suspended FROM core.account a WHERE a.account_id = $1',
);
const letHear = statement(
  'account_restore_webhooks',
  `UPDATE core.webhook SET status = 'enabled', disabled_reason = NULL, disabled_at = NULL
    WHERE account_id = $1 AND disabled_reason = $2`,
);
const paidCredit = statement(
  'account_paid_credit',
  `SELECT coalesce(sum(g.remaining_nanos), 0)::bigint AS nanos FROM core.credit_grant g
    WHERE g.account_id = $1 AND NOT g.spent AND g.kind = 'paid' AND NOT g.test_mode
      AND (g.expires_at IS NULL OR g.expires_at > core.clock_now())`,
);
const endSessions = statement('account_end_sessions', 'DELETE FROM core.session WHERE account_id = $1');
const selectKeys = statement(
  'account_live_keys',
  'SELECT k.key_id FROM core.api_key k WHERE k.account_id = $1 AND k.revoked_at IS NULL',
);

/**
 * Everything of the account stops with this transaction, which holds it locked since `nowMs`; wait for `keysStopped` afterwards. Answers when it is purged.
 * Throws STATE_CONFLICT with code_detail operator_account, live_subscription or paid_credit.
 */
export async function deleteAccount(
  tx: Transaction,
  accountId: string,
  { forfeit, requestId, nowMs }: { readonly forfeit: boolean; readonly requestId: string; readonly nowMs: number },
): Promise<number> {
  await requireFree(tx, accountId, forfeit);
  const purgeAtMs = nowMs + RESTORE_MS;
  await setSuspended(tx, accountId, true);
  await tx.query(mark, [accountId, timestamp(purgeAtMs), timestamp(nowMs)]);
  await tx.query(endSessions, [accountId]);
  const account = (await findAccount(tx, accountId)) as Account;
  const data = { object: { ...accountRecord(account), purge_at: iso(purgeAtMs) } };
  sendEvents(tx, [{ accountId, type: 'account.deleted', data, requestId }], nowMs);
  return purgeAtMs;
}

async function requireFree(tx: Transaction, accountId: string, forfeit: boolean): Promise<void> {
  if ((await operatorAccount(tx)) === accountId) {
    const message = 'This is the account of the operator: the service needs it.';
    throw problem('STATE_CONFLICT', { message, detail: 'operator_account' });
  }
  const subscription = await currentSubscription(tx, accountId);
  if (subscription !== null && isLive(subscription)) {
    const message = 'A subscription runs: end it first, by account.subscription.cancel with at_period_end false.';
    throw problem('STATE_CONFLICT', { message, detail: 'live_subscription' });
  }
  const nanos = (await tx.query<{ nanos: bigint }>(paidCredit, [accountId])).rows[0]?.nanos ?? 0n;
  if (nanos === 0n || forfeit) return;
  const message = `The wallet has ${usdText(nanos)} USD of paid credit, which would be lost: send forfeit_balance true, or have it refunded.`;
  throw problem('STATE_CONFLICT', { message, detail: 'paid_credit', param: 'forfeit_balance' });
}

/** After the commit: when this resolves, no process lets a call of the account through. */
export async function keysStopped(core: Core, accountId: string): Promise<void> {
  const { rows } = await core.db.query<{ key_id: string }>(selectKeys, [accountId]);
  await Promise.all(rows.map(({ key_id }) => forgetKeyHere(core, key_id)));
  await core.processes.keyDropInForce();
}

/**
 * Takes a deletion back: everything is as it was, keys and webhooks included; only sign-ins are not. Answers the account; null when there
 * is none. Throws STATE_CONFLICT when it is not deleted, or is being purged already.
 */
export async function restoreAccount(tx: Transaction, accountId: string): Promise<Account | null> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) return null;
  const wasSuspended = await isSuspendedBeside(tx, accountId);
  const { count } = await tx.query(unmark, [accountId, timestamp(nowMs)]);
  if (count === 0) {
    const message = 'The account is not deleted, or its week is over and it is gone.';
    throw problem('STATE_CONFLICT', { message, detail: 'not_restorable' });
  }
  await tx.query(letHear, [accountId, DELETED]);
  if (!wasSuspended) await setSuspended(tx, accountId, false);
  const account = (await findAccount(tx, accountId)) as Account;
  const data = { object: accountRecord(account), previous: { suspended: true } };
  sendEvents(tx, [{ accountId, type: 'account.updated', data, requestId: null }], nowMs);
  return account;
}

async function isSuspendedBeside(tx: Queryable, accountId: string): Promise<boolean> {
  return (await tx.query<{ was_suspended: boolean }>(readWas, [accountId])).rows[0]?.was_suspended === true;
}
