// Sign-up credit for people who sign in by an identity provider: once per identity, once per mailbox, three a day per network. Records are
// keyed hashes that outlive accounts, so deleting an account earns no second credit.

import { createHmac } from 'node:crypto';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Secrets } from '../../core/secrets/secrets.ts';
import { grantCredit, signUpLifetimeMs, signUpNote } from '../../core/wallet/grants.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { iso } from '../../lib/time.ts';
import { normalisedAddress, wideNetworkOf } from '../addresses.ts';

/** Why an account has no sign-up credit; `email_sign_up`: it would, if a provider vouched for its person. */
export type WithheldReason = 'email_sign_up' | 'no_verified_email' | 'identity_used' | 'email_used' | 'network_limit';

export interface Applicant {
  readonly issuer: string;
  readonly subject: string;
  readonly verifiedEmail: string | null;
  /** Where the person is. */
  readonly remoteAddress: string;
}

const A_DAY_MAX = 3;

const findTrial = statement(
  'sign_up_find_trial',
  'SELECT g.grant_id FROM core.credit_grant g WHERE g.account_id = $1 AND g.note = $2 LIMIT 1',
);
const insertClaim = statement(
  'sign_up_insert_claim',
  `INSERT INTO core.sign_up_claim (claim_hash, account_id, created_at) VALUES ($1, $2, $3) ON CONFLICT (claim_hash) DO NOTHING`,
);
const deleteClaim = statement('sign_up_delete_claim', 'DELETE FROM core.sign_up_claim WHERE claim_hash = $1');
const updateWithheld = statement(
  'sign_up_update_withheld',
  'UPDATE core.account SET trial_withheld = $2 WHERE account_id = $1',
);

/**
 * Gives the account its credit in the caller's transaction, or writes down why not. One that has been given it before is left alone.
 * Answers why none was given now; null: it has it.
 * @param amountNanos zero: this service gives none, and nothing is written down
 */
export async function giveSignUpCredit(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  applicant: Applicant,
  amountNanos: bigint,
): Promise<WithheldReason | null> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) throw new Error(`no account ${accountId}`);
  if (amountNanos === 0n || (await hasSignUpCredit(tx, accountId))) return null;
  const withheld = await claimAll(tx, secrets, accountId, applicant, nowMs);
  await withhold(tx, accountId, withheld);
  if (withheld !== null) return withheld;
  await grantCredit(tx, accountId, {
    kind: 'promo',
    amountNanos,
    expiresInMs: signUpLifetimeMs,
    note: signUpNote,
    source: { kind: 'signup', id: accountId },
  });
  return null;
}

/** Whether it ever had some. */
export async function hasSignUpCredit(db: Queryable, accountId: string): Promise<boolean> {
  return (await db.query(findTrial, [accountId, signUpNote])).rows.length > 0;
}

/** Writes down why the account has none; null: nothing is in its way any more. */
export async function withhold(tx: Queryable, accountId: string, reason: WithheldReason | null): Promise<void> {
  await tx.query(updateWithheld, [accountId, reason]);
}

async function claimAll(
  tx: Transaction,
  secrets: Secrets,
  accountId: string,
  { issuer, subject, verifiedEmail, remoteAddress }: Applicant,
  nowMs: number,
): Promise<WithheldReason | null> {
  const mailbox = verifiedEmail === null ? null : normalisedAddress(verifiedEmail);
  if (mailbox === null) return 'no_verified_email';
  const hash = hashesOf(secrets);
  const claim = async (claimHash: string) =>
    (await tx.query(insertClaim, [claimHash, accountId, timestamp(nowMs)])).count === 1;
  const [byIdentity, byMailbox] = [hash('identity', issuer, subject), hash('mailbox', mailbox)];
  // One after the other, always in this order: two who want the same wait, and never for each other.
  if (!(await claim(byIdentity))) return 'identity_used';
  if (!(await claim(byMailbox))) {
    await tx.query(deleteClaim, [byIdentity]);
    return 'email_used';
  }
  const network = wideNetworkOf(remoteAddress);
  if (network === null) return null;
  for (let i = 1; i <= A_DAY_MAX; i += 1) {
    if (await claim(hash('network', network, iso(nowMs).slice(0, 10), String(i)))) return null;
  }
  await Promise.all([tx.query(deleteClaim, [byIdentity]), tx.query(deleteClaim, [byMailbox])]);
  return 'network_limit';
}

function hashesOf(secrets: Secrets): (...parts: string[]) => string {
  const key = secrets.derive('sign-up-claims', 32);
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
