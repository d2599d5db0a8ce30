// Accounts: created with project, wallet and sign-up credit in one transaction; tier and suspension. Every change locks the wallet row, which
// serializes it with the lane commits of the account.

import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import { NANOS_PER_USD } from '../../lib/money.ts';
import { sequenceAt } from '../../lib/sequence.ts';
import { iso, startOfDay, startOfMonth } from '../../lib/time.ts';
import { lockAccount } from '../callers/lock.ts';
import { holdRights } from '../callers/rights.ts';
import { isTierAtLeast, type Tier } from '../callers/tiers.ts';
import { clockNow } from '../database-clock.ts';
import { sendEvents } from '../events/outbox.ts';
import { grantCredit, signUpLifetimeMs, signUpNote } from '../wallet/grants.ts';

export interface NewAccount {
  readonly name?: string | null;
  /** Somebody has shown that it is theirs, or the operator vouches for it. The account is named by it unless a name is given. */
  readonly email?: string | null;
  /**
   * Whose identity makes it. `operator`: it starts with the sign-up credit; `email`: without; `provider`: the caller gives it, or says why
   * not. Absent: `email` where there is an address, else `operator`.
   */
  readonly by?: 'operator' | 'email' | 'provider';
}

export type KycStatus = 'none' | 'required' | 'pending' | 'verified' | 'rejected';

export interface Account {
  readonly accountId: string;
  readonly projectId: string;
  readonly tier: Tier;
  readonly name: string | null;
  readonly email: string | null;
  readonly emailBound: boolean;
  readonly kycStatus: KycStatus;
  /** Whether mail is sent about spending and payments. */
  readonly mails: boolean;
  readonly suspended: boolean;
  /** When everything is removed; null: nobody has asked for it. */
  readonly purgeAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

interface AccountRow {
  readonly account_id: string;
  readonly project_id: string;
  readonly tier: Tier;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_bound: boolean;
  readonly kyc_status: KycStatus;
  readonly mails: boolean;
  readonly purge_at: number | null;
  readonly suspended: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

const SIGN_UP_CREDIT_NANOS = 2n * NANOS_PER_USD;

const insertAccount = statement(
  'account_insert',
  `INSERT INTO core.account (account_id, project_id, tier, name, email, email_bound, trial_withheld, created_at, updated_at)
   VALUES ($1, $2, 'standard', $3, $7, $4, $6, $5, $5)`,
);

// Armed from the start: an account that never had more than the threshold is told when it runs low as well.
const insertWallet = statement(
  'account_insert_wallet',
  `INSERT INTO core.wallet (account_id, balance_nanos, held_nanos, last_seq, day_start, day_used_nanos, day_held_nanos,
                            month_start, month_used_nanos, month_held_nanos, last_grant_nanos, low_balance_armed)
   VALUES ($1, 0, 0, $2, $3, 0, 0, $4, 0, 0, 0, true)`,
);

const selectAccount = statement(
  'account_select',
  `SELECT a.account_id, a.project_id, a.tier, a.name, a.email, a.email_bound, a.kyc_status, a.mails, a.purge_at, w.suspended,
          a.created_at, a.updated_at
     FROM core.account a, core.wallet w
    WHERE a.account_id = $1 AND w.account_id = $1`,
);

const selectAccounts = statement(
  'account_select_page',
  `/* fan-out: the operator's list of all accounts */
   SELECT a.account_id, a.project_id, a.tier, a.name, a.email, a.email_bound, a.kyc_status, a.mails, a.purge_at, w.suspended,
          a.created_at, a.updated_at
     FROM core.account a
     JOIN core.wallet w ON w.account_id = a.account_id
    WHERE a.account_id > $1
    ORDER BY a.account_id
    LIMIT $2`,
);

// Found first, then put in order: in order, all accounts would be looked at for the few that are found.
const findAccounts = statement(
  'account_find_page',
  `/* fan-out: the operator looks for accounts */
   WITH c AS MATERIALIZED (
     SELECT a.account_id
       FROM core.account a
      WHERE a.account_id >= $3 AND a.account_id < $4
         OR lower(a.name) ~>=~ lower($3) AND lower(a.name) ~<~ lower($4)
         OR lower(a.email) ~>=~ lower($3) AND lower(a.email) ~<~ lower($4))
   SELECT a.account_id, a.project_id, a.tier, a.name, a.email, a.email_bound, a.kyc_status, a.mails, a.purge_at, w.suspended,
          a.created_at, a.updated_at
     FROM c
     JOIN core.account a ON a.account_id = c.account_id
     JOIN core.wallet w ON w.account_id = c.account_id
    WHERE c.account_id > $1
    ORDER BY c.account_id
    LIMIT $2`,
);

const updateTier = statement(
  'account_update_tier',
  'UPDATE core.account SET tier = $2, updated_at = $3 WHERE account_id = $1',
);
const touch = statement('account_touch', 'UPDATE core.account SET updated_at = $2 WHERE account_id = $1');
const updateSuspended = statement(
  'account_update_suspended',
  `UPDATE core.wallet
      SET suspended = $2, recharge_due_at = CASE WHEN recharge_trigger_nanos IS NULL THEN recharge_due_at ELSE $3 END
    WHERE account_id = $1`,
);

const suspendRestored = statement(
  'account_suspend_restored',
  'UPDATE core.account SET was_suspended = $2 WHERE account_id = $1',
);

/** Makes an account with its project and wallet; the sign-up credit is 2 USD for 90 days, none for an e-mail identity. Answers its id. */
export async function createAccount(tx: Transaction, account: NewAccount): Promise<string> {
  const { name = null, email = null, by = email === null ? 'operator' : 'email' } = account;
  const nowMs = await clockNow(tx);
  const now = timestamp(nowMs);
  const accountId = newId(by === 'email' ? 'acct_email_' : 'acct_anon_');
  const inserted = [
    tx.query(insertAccount, [
      ...[accountId, newId('proj_'), name ?? email, email !== null, now],
      by === 'email' ? 'email_sign_up' : null,
      email,
    ]),
    tx.query(insertWallet, [
      accountId,
      sequenceAt(nowMs),
      timestamp(startOfDay(nowMs)),
      timestamp(startOfMonth(nowMs)),
    ]),
  ];
  await Promise.all(inserted);
  if (by === 'operator') {
    await grantCredit(tx, accountId, {
      kind: 'promo',
      amountNanos: SIGN_UP_CREDIT_NANOS,
      expiresInMs: signUpLifetimeMs,
      note: signUpNote,
    });
  }
  const created = (await findAccount(tx, accountId)) as Account;
  sendEvents(
    tx,
    [{ accountId, type: 'account.created', data: { object: accountRecord(created) }, requestId: null }],
    nowMs,
  );
  return accountId;
}

export async function findAccount(db: Queryable, accountId: string): Promise<Account | null> {
  const { rows } = await db.query<AccountRow>(selectAccount, [accountId]);
  return rows[0] === undefined ? null : accountOf(rows[0]);
}

/** Up to `limit` accounts in the order of their ids, after `afterId` (empty: from the start). */
export async function listAccounts(db: Queryable, afterId: string, limit: number): Promise<Account[]> {
  const { rows } = await db.query<AccountRow>(selectAccounts, [afterId, limit]);
  return rows.map(accountOf);
}

/** Those among them whose id, name or address begins with `prefix`; in names and addresses A is a. */
export async function searchAccounts(
  db: Queryable,
  prefix: string,
  afterId: string,
  limit: number,
): Promise<Account[]> {
  // Behind whatever begins so, in the order of bytes.
  const end = `${prefix}\u{10ffff}`;
  const { rows } = await db.query<AccountRow>(findAccounts, [afterId, limit, prefix, end]);
  return rows.map(accountOf);
}

/** Changes the tier and tells it, as account.updated and by whether it is more or less. Answers the account, or null when there is none. */
export async function setTier(tx: Transaction, accountId: string, tier: Tier): Promise<Account | null> {
  const nowMs = await lockAccount(tx, accountId);
  const before = nowMs === null ? null : await findAccount(tx, accountId);
  if (nowMs === null || before === null || before.tier === tier) return before;
  const after = { ...before, tier, updatedAtMs: nowMs };
  const data = { object: accountRecord(after), previous: { tier: before.tier } };
  await tx.query(updateTier, [accountId, tier, timestamp(nowMs)]);
  const moved = isTierAtLeast(tier, before.tier) ? 'tier.upgraded' : 'tier.downgraded';
  const events = ['account.updated', moved].map((type) => ({ accountId, type, data, requestId: null }));
  sendEvents(tx, events, nowMs);
  return after;
}

/**
 * Stops or lets through every call of the account: billable ones from this commit on, the others once their process has read
 * the key anew: wait for ProcessRegistry.keyDropInForce. Answers the account, or null when there is none.
 */
export async function setSuspended(tx: Transaction, accountId: string, suspended: boolean): Promise<Account | null> {
  const nowMs = await lockAccount(tx, accountId);
  const before = nowMs === null ? null : await findAccount(tx, accountId);
  // Of a deleted account it is in force once it is restored: until then everything is refused anyway.
  if (before !== null && before.purgeAtMs !== null) {
    await tx.query(suspendRestored, [accountId, suspended]);
    return before;
  }
  if (nowMs === null || before === null || before.suspended === suspended) return before;
  const now = timestamp(nowMs);
  await holdRights(tx, accountId);
  // A suspended wallet is not recharged; let through, it is looked at.
  await Promise.all([tx.query(updateSuspended, [accountId, suspended, now]), tx.query(touch, [accountId, now])]);
  return { ...before, suspended, updatedAtMs: nowMs };
}

/** The account as events and the command line show it. */
export function accountRecord(account: Account) {
  return {
    account_id: account.accountId,
    project_id: account.projectId,
    name: account.name,
    tier: account.tier,
    email_bound: account.emailBound,
    suspended: account.suspended,
    created_at: iso(account.createdAtMs),
    updated_at: iso(account.updatedAtMs),
  };
}

function accountOf(row: AccountRow): Account {
  return {
    accountId: row.account_id,
    projectId: row.project_id,
    tier: row.tier,
    name: row.name,
    email: row.email,
    emailBound: row.email_bound,
    kycStatus: row.kyc_status,
    mails: row.mails,
    suspended: row.suspended,
    purgeAtMs: row.purge_at,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}
