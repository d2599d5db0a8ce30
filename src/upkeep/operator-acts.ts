// The operator's actions on accounts, from the command line and the operator module. Their events name no request, because none of the
// account's own caused them.

import { type Account, findAccount, type KycStatus, setSuspended } from '../core/accounts/accounts.ts';
import { setEmail, setKycStatus, updateAccount } from '../core/accounts/changes.ts';
import { lockAccount } from '../core/callers/lock.ts';
import type { Tier } from '../core/callers/tiers.ts';
import { grantCredit, type NewGrant, signUpNote } from '../core/wallet/grants.ts';
import { openWallet } from '../core/wallet/open-wallet.ts';
import { spendableOf } from '../core/wallet/state.ts';
import type { Transaction } from '../db/database.ts';
import { usd } from '../lib/money.ts';
import { isoOrNull } from '../lib/time.ts';
import { giveTier } from '../payments/subscriptions/change.ts';
import { mailAddress } from '../people/addresses.ts';
import { membersOf } from '../people/persons.ts';
import { ownByAddress } from '../people/sign-in/by-mail.ts';
import { problem } from '../problems/problem.ts';

/** What is absent stays. */
export interface AccountChanges {
  readonly name?: string | null;
  readonly tier?: Tier;
  /** The operator vouches for it. */
  readonly email?: string;
  readonly kycStatus?: KycStatus;
  readonly suspended?: boolean;
}

/** Answers the account afterwards; null: there is none. A suspension is in force with ProcessRegistry.keyDropInForce. */
export async function changeAccount(
  tx: Transaction,
  accountId: string,
  { name, tier, email, kycStatus, suspended }: AccountChanges,
): Promise<Account | null> {
  if ((await lockAccount(tx, accountId)) === null) return null;
  if (name !== undefined) await updateAccount(tx, accountId, { name }, null);
  if (tier !== undefined) await giveTier(tx, accountId, tier);
  if (email !== undefined) {
    await setEmail(tx, accountId, email);
    await vouchFor(tx, accountId, email);
  }
  if (kycStatus !== undefined) await setKycStatus(tx, accountId, kycStatus);
  if (suspended !== undefined) await setSuspended(tx, accountId, suspended);
  return findAccount(tx, accountId);
}

/** Whoever signs in by the address owns the account, unless somebody does already. */
export async function vouchFor(tx: Transaction, accountId: string, email: string): Promise<void> {
  const address = mailAddress(email);
  if (address !== null && (await membersOf(tx, accountId)).length === 0) await ownByAddress(tx, accountId, address);
}

export type GivenCredit = Pick<NewGrant, 'kind' | 'amountNanos' | 'expiresInMs' | 'note'>;

/** Answers the grant as the operator sees it; null: there is no such account. Throws INVALID_REQUEST, QUOTA_EXCEEDED. */
export async function giveCredit(tx: Transaction, accountId: string, credit: GivenCredit) {
  if (credit.note === signUpNote)
    throw problem('INVALID_REQUEST', { message: `The note '${signUpNote}' is that of trial credit.`, param: 'note' });
  if ((await lockAccount(tx, accountId)) === null) return null;
  const grantId = await grantCredit(tx, accountId, credit);
  const opened = await openWallet(tx, accountId);
  const expiresAtMs = opened?.grants.find((row) => row.grant_id === grantId)?.expires_at ?? null;
  return {
    account_id: accountId,
    grant_id: grantId,
    kind: credit.kind,
    amount_usd: usd(credit.amountNanos),
    expires_at: isoOrNull(expiresAtMs),
    balance_usd: usd(spendableOf(opened?.unexpired ?? [])),
  };
}
