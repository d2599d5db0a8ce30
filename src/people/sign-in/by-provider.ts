// Sign-in by an identity provider: the person known by the identity, or a new person with an account and its credit. An equal address proves
// nothing: only the pair of issuer and subject identifies a person.

import { createAccount } from '../../core/accounts/accounts.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import type { Transaction } from '../../db/database.ts';
import type { ProvenIdentity } from '../../vendors/identity/port.ts';
import { addIdentity, createPerson, findByIdentity, type Person } from '../persons.ts';
import type { PeoplePart } from '../terms.ts';
import { requireMaySignUp } from './sign-up.ts';
import { giveSignUpCredit } from './sign-up-credit.ts';

type PeopleCore = Pick<Core, 'db' | 'secrets'> & Pick<PeoplePart, 'signUp' | 'signUpCreditNanos'>;

export interface Arrival {
  readonly identity: ProvenIdentity;
  /** Where the person is. */
  readonly remoteAddress: string;
}

/** Answers who it is; of several that come at once with a new identity one makes the person. Throws SIGNUP_CLOSED. */
export async function personOf(core: PeopleCore, arrival: Arrival): Promise<Person> {
  for (;;) {
    const known = await findByIdentity(core.db, arrival.identity);
    if (known !== null) return known;
    requireMaySignUp(core.signUp, arrival.identity.verifiedEmail);
    try {
      await core.db.transaction((tx) => signUp(tx, core, arrival));
    } catch (error) {
      if (!(error instanceof WasFirst)) throw error;
    }
  }
}

/** Somebody else made a person of the identity meanwhile: nothing of ours may stay. */
class WasFirst extends Error {}

async function signUp(tx: Transaction, core: PeopleCore, { identity, remoteAddress }: Arrival): Promise<void> {
  const { name, verifiedEmail } = identity;
  const accountId = await createAccount(tx, { name, email: verifiedEmail, by: 'provider' });
  const nowMs = (await lockAccount(tx, accountId)) as number;
  const personId = await createPerson(tx, { accountId, email: verifiedEmail, name, role: 'owner' }, nowMs);
  if (!(await addIdentity(tx, identity, { personId, madeAccountId: accountId }, nowMs))) throw new WasFirst();
  await giveSignUpCredit(tx, core.secrets, accountId, { ...identity, remoteAddress }, core.signUpCreditNanos);
}
