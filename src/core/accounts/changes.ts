// Changes of an account by its owner or the operator. Each one emits an event that carries the previous values.

import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { lockAccount } from '../callers/lock.ts';
import { sendEvents } from '../events/outbox.ts';
import { type Account, accountRecord, findAccount, type KycStatus } from './accounts.ts';

const updateProfile = statement(
  'account_update_profile',
  'UPDATE core.account SET name = $2, mails = $3, updated_at = $4 WHERE account_id = $1',
);
const updateEmail = statement(
  'account_update_email',
  'UPDATE core.account SET email = $2, email_bound = true, updated_at = $3 WHERE account_id = $1',
);
const updateKyc = statement(
  'account_update_kyc',
  'UPDATE core.account SET kyc_status = $2, updated_at = $3 WHERE account_id = $1',
);

/** What is absent stays; `requestId`: of the account's call that changes it. Answers the account, or null when there is none. */
export function updateAccount(
  tx: Transaction,
  accountId: string,
  changes: { readonly name?: string | null; readonly mails?: boolean },
  requestId: string | null,
): Promise<Account | null> {
  return change(tx, { accountId, type: 'account.updated', requestId }, changes, async (after, nowMs) => {
    await tx.query(updateProfile, [accountId, after.name, after.mails, timestamp(nowMs)]);
  });
}

/** Binds an address that somebody has shown to be theirs, or that the operator vouches for. */
export function setEmail(
  tx: Transaction,
  accountId: string,
  email: string,
  requestId: string | null = null,
): Promise<Account | null> {
  const told = { accountId, type: 'account.updated', requestId };
  return change(tx, told, { email, emailBound: true }, async (_, nowMs) => {
    await tx.query(updateEmail, [accountId, email, timestamp(nowMs)]);
  });
}

/** This service verifies nobody itself: its operator says how far it is. */
export function setKycStatus(tx: Transaction, accountId: string, kycStatus: KycStatus): Promise<Account | null> {
  const told = { accountId, type: 'kyc.status_changed', requestId: null };
  return change(tx, told, { kycStatus }, async (_, nowMs) => {
    await tx.query(updateKyc, [accountId, kycStatus, timestamp(nowMs)]);
  });
}

type Changes = Partial<Pick<Account, 'name' | 'mails' | 'email' | 'emailBound' | 'kycStatus'>>;

/** How the wire names what an event shows of the state before. */
const WIRE = { name: 'name', emailBound: 'email_bound', kycStatus: 'kyc_status' } as const;

async function change(
  tx: Transaction,
  event: { readonly accountId: string; readonly type: string; readonly requestId: string | null },
  changes: Changes,
  write: (after: Account, nowMs: number) => Promise<void>,
): Promise<Account | null> {
  const { accountId, type } = event;
  const nowMs = await lockAccount(tx, accountId);
  const before = nowMs === null ? null : await findAccount(tx, accountId);
  if (nowMs === null || before === null) return null;
  const names = (Object.keys(changes) as (keyof Changes)[]).filter((name) => changes[name] !== before[name]);
  if (names.length === 0) return before;
  const after: Account = { ...before, ...changes, updatedAtMs: nowMs };
  await write(after, nowMs);
  const told = names.filter((name): name is keyof typeof WIRE => name in WIRE);
  const previous = Object.fromEntries(told.map((name) => [WIRE[name], before[name]]));
  // An address is not shown, but that it is another one now is told.
  if (told.length > 0 || names.includes('email')) {
    const kyc = type === 'kyc.status_changed' ? { kyc_status: after.kycStatus } : {};
    const data = { object: { ...accountRecord(after), ...kyc }, previous };
    sendEvents(tx, [{ ...event, data }], nowMs);
  }
  return after;
}
