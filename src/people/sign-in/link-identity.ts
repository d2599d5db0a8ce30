// Links a second identity to a signed-in person. An unused identity becomes theirs. If it is another person's, the two persons are merged, with
// all identities and memberships. An account that the other person alone had is merged too if it is empty and the signed-in person agrees.

import { findAccount } from '../../core/accounts/accounts.ts';
import { setEmail } from '../../core/accounts/changes.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { clockNow } from '../../core/database-clock.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { Problem, problem } from '../../problems/problem.ts';
import { absorbAccount, type IsEmpty } from '../absorbing/absorb.ts';
import {
  addIdentity,
  findByIdentity,
  findPerson,
  type Identity,
  lockOwner,
  lockPersons,
  membershipsOf,
  membersOf,
  setMember,
} from '../persons.ts';
import { endSessionsOf } from '../sessions/sessions.ts';
import type { PeoplePart } from '../terms.ts';
import type { Arrival } from './by-provider.ts';
import { moveInvitations } from './invitations.ts';
import { hasOnlyShownKeys, type Merger, mergerOf } from './merger.ts';
import { giveSignUpCredit } from './sign-up-credit.ts';

export interface Linking {
  readonly personId: string;
  /** That the session acts for: it is the one that stays. */
  readonly accountId: string;
}

export interface Linked {
  /** Accounts that went over into the person's. */
  readonly absorbed: readonly string[];
  /** Accounts that the person has beside it since: they are in use, or were to stay. */
  readonly kept: readonly string[];
}

/** Agreed: the identity is linked, and no account goes over. */
export const APART = 'apart';

// Who is removed from an account meanwhile brings it along for nobody.
const lockMemberships = statement(
  'link_lock_memberships',
  `SELECT person_id FROM core.member WHERE person_id = ANY($1::text[])
    ORDER BY person_id, account_id FOR UPDATE`,
);
const selectIdentities = statement(
  'link_select_identities',
  'SELECT issuer, subject FROM core.identity WHERE person_id = $1 ORDER BY created_at, issuer, subject LIMIT 100',
);
const moveIdentities = statement(
  'link_move_identities',
  'UPDATE core.identity SET person_id = $2 WHERE person_id = $1',
);
const deleteMembers = statement('link_delete_members', 'DELETE FROM core.member WHERE person_id = $1');
const deletePerson = statement('link_delete_person', 'DELETE FROM core.person WHERE person_id = $1');
const deleteMember = statement(
  'link_delete_member',
  'DELETE FROM core.member WHERE person_id = $1 AND account_id = $2',
);
const fillIn = statement(
  'link_fill_in',
  'UPDATE core.person SET email = coalesce(email, $2), name = coalesce(name, $3) WHERE person_id = $1',
);

/** How a person is known. */
export async function identitiesOf(db: Queryable, personId: string): Promise<readonly Identity[]> {
  return (await db.query<Identity>(selectIdentities, [personId])).rows;
}

/**
 * One transaction makes the identity the person's; who dies after it has lost nothing, only that the person has both accounts.
 * @param agreed digest of the merger that the person has agreed to, APART, or null. `asks`: nothing was changed; they must agree to this.
 */
export async function linkIdentity(
  core: Core & Pick<PeoplePart, 'signUpCreditNanos'>,
  who: Linking,
  arrival: Arrival,
  agreed: string | null,
): Promise<Linked | { readonly asks: Merger }> {
  const { db, isEmptyAccount } = core;
  const { merger, came } = await db.transaction(async (tx) => {
    await lockAccount(tx, who.accountId);
    const isOwner = await lockOwner(tx, who.accountId, who.personId);
    const wouldMerge = isOwner ? await mergerOf(tx, isEmptyAccount, who, arrival.identity) : null;
    if (wouldMerge !== null && agreed !== APART && agreed !== wouldMerge.digest)
      return { merger: wouldMerge, came: null };
    const accounts = await link(tx, core, who, arrival);
    if (isOwner) await bindAddress(tx, who, arrival.identity.verifiedEmail);
    return { merger: wouldMerge, came: accounts };
  });
  if (came === null) return { asks: merger as Merger };
  const [absorbed, kept]: [string[], string[]] = [[], []];
  for (const accountId of came) {
    const isAgreed = agreed !== APART && merger?.from.some((each) => each.accountId === accountId) === true;
    const isGone = isAgreed && (await mergeAccount(core, accountId, who, merger));
    (isGone ? absorbed : kept).push(accountId);
  }
  return { absorbed, kept };
}

/** An account that has no address gets the one that the provider vouches for, where it is its owner's. */
async function bindAddress(tx: Transaction, { accountId }: Linking, email: string | null): Promise<void> {
  if (email === null) return;
  if ((await findAccount(tx, accountId))?.emailBound === false) await setEmail(tx, accountId, email);
}

/** Answers the accounts that came with the identity, and are nobody else's. */
async function link(
  tx: Transaction,
  core: Core & Pick<PeoplePart, 'signUpCreditNanos'>,
  who: Linking,
  { identity, remoteAddress }: Arrival,
): Promise<string[]> {
  const nowMs = await clockNow(tx);
  const added = await addIdentity(tx, identity, { personId: who.personId }, nowMs);
  if (added) {
    await tx.query(fillIn, [who.personId, identity.verifiedEmail, identity.name]);
    const applicant = { ...identity, remoteAddress };
    await giveSignUpCredit(tx, core.secrets, who.accountId, applicant, core.signUpCreditNanos);
    return [];
  }
  const other = await findByIdentity(tx, identity);
  if (other === null) throw new Error('an identity is of no person');
  return other.personId === who.personId ? [] : takeOver(tx, who.personId, other.personId, nowMs);
}

async function takeOver(tx: Transaction, personId: string, otherId: string, nowMs: number): Promise<string[]> {
  // One of them has just become the other, elsewhere.
  if ((await lockPersons(tx, [personId, otherId])) !== 2)
    throw problem('STATE_CONFLICT', { message: 'The two are being linked just now. Try again.' });
  await tx.query(lockMemberships, [textArray([personId, otherId])]);
  const other = await findPerson(tx, otherId);
  const [theirs, own] = await Promise.all([membershipsOf(tx, otherId), membershipsOf(tx, personId)]);
  const came: string[] = [];
  for (const member of theirs) {
    const known = own.find(({ accountId }) => accountId === member.accountId);
    const isAlone = (await membersOf(tx, member.accountId)).length === 1;
    if (isAlone) came.push(member.accountId);
    if (known?.role !== 'owner') await setMember(tx, { ...member, personId }, nowMs);
  }
  const accounts = theirs.map(({ accountId }) => accountId);
  if (accounts.length > 0) await moveInvitations(tx, accounts, otherId, personId);
  await tx.query(moveIdentities, [otherId, personId]);
  await tx.query(deleteMembers, [otherId]);
  await endSessionsOf(tx, otherId);
  await tx.query(deletePerson, [otherId]);
  await tx.query(fillIn, [personId, other?.email ?? null, other?.name ?? null]);
  return came;
}

/** The person keeps what is written to it by calls that had begun before, and all of it where a key has appeared that nobody was shown. */
async function mergeAccount(
  core: Core & Pick<PeoplePart, 'signUpCreditNanos'>,
  from: string,
  { accountId, personId }: Linking,
  merger: Merger,
): Promise<boolean> {
  const { db, isEmptyAccount } = core;
  // On a distributed engine the two are not locked at once: there it was looked at when the identity was linked.
  const mayGo: IsEmpty = async (tx, id) =>
    (db.distributed || (await hasOnlyShownKeys(tx, merger))) && (await isEmptyAccount(tx, id));
  try {
    await absorbAccount(core, { from, into: accountId }, mayGo);
  } catch (error) {
    if (error instanceof Problem && error.detail === 'account_not_empty') return false;
    throw error;
  }
  return db.transaction(async (tx) => {
    await lockAccount(tx, from);
    if (!(await isEmptyAccount(tx, from))) return false;
    await tx.query(deleteMember, [personId, from]);
    return true;
  });
}
