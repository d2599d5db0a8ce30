// Calls that background work makes in the name of an account, such as publishing a message because of an account setting. They are ordinary
// calls: at their price, from the account's wallet, within its tier. Their only scope is that of the call itself.

import type { Queryable } from '../db/database.ts';
import type { Problem } from '../problems/problem.ts';
import { problem } from '../problems/problem.ts';
import { findAccount } from './accounts/accounts.ts';
import type { Principal, PrincipalKind } from './callers/principal.ts';
import { invalidKey } from './keys/api-key.ts';

export interface OwnCall {
  readonly capability: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** A repeat under the same key does nothing more, as of every call. */
  readonly idempotencyKey: string;
  /** Id of the key or session that it is booked under. */
  readonly bookedUnder: string;
}

/** How the gateway makes it; null: it succeeded. */
export type MakeCall = (principal: Principal, call: OwnCall) => Promise<Problem | null>;

export class OwnCalls {
  readonly #db: Queryable;
  #make: MakeCall | null = null;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Once there is a gateway. */
  bind(make: MakeCall): void {
    this.#make = make;
  }

  /** Throws the Problem that the call failed with; NOT_FOUND for an account that is gone. */
  async make(accountId: string, call: OwnCall): Promise<void> {
    const account = await findAccount(this.#db, accountId);
    if (account === null) throw problem('NOT_FOUND', { message: 'The account is gone.' });
    if (this.#make === null) throw problem('SERVICE_UNAVAILABLE', { message: 'The service starts.' });
    const { projectId, tier, suspended } = account;
    const scopes = [call.capability];
    const failure = await this.#make(
      {
        kind: ownKind,
        id: call.bookedUnder,
        accountId,
        projectId,
        scopes,
        tier,
        suspended,
        isCurrent: true,
        hasSpendCap: false,
        signedInAtMs: null,
      },
      call,
    );
    if (failure !== null) throw failure;
  }
}

/** The account itself: it lives as long as its wallet, which whoever commits has locked. */
const ownKind: PrincipalKind = {
  name: 'account',
  again: async (principal) => principal,
  readLive: async (_, __, principals) =>
    principals.map(({ id, scopes }) => ({ id, scopes, ended: null, expiresAtMs: null, isCurrent: true, cap: null })),
  refusal: invalidKey,
};
