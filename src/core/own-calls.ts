// Calls that background work makes in the name of an account, such as publishing a message because of an account setting, or as a key that
// planned them. They are ordinary calls: at their price, from the account's wallet, within its tier. The only scope of those of the account is that
// of the call itself; those of a key have the key's rights and caps as they are then.

import type { Queryable } from '../db/database.ts';
import type { JsonText } from '../lib/json-text.ts';
import { Problem, problem } from '../problems/problem.ts';
import { findAccount } from './accounts/accounts.ts';
import type { InvokedInput } from './callers/context.ts';
import type { Principal, PrincipalKind } from './callers/principal.ts';
import { invalidKey } from './keys/api-key.ts';
import { currentKey } from './keys/current-key.ts';
import type { KeyRing } from './keys/ring.ts';

export interface OwnCall {
  readonly capability: string;
  readonly input: InvokedInput;
  /** A repeat under the same key does nothing more, as of every call. */
  readonly idempotencyKey: string;
}

export interface AccountCall extends OwnCall {
  /** Id of the key or session that it is booked under. */
  readonly bookedUnder: string;
}

/** A call as somebody plans it for later. */
export interface PlannedCall {
  readonly capability: string;
  readonly input: JsonText;
}

export interface MadeCall {
  /** Null: it succeeded. */
  readonly problem: Problem | null;
  readonly data: unknown;
  readonly costNanos: bigint;
}

/** How the gateway makes them. */
export interface OwnCallMaker {
  make(principal: Principal, call: OwnCall, signal: AbortSignal): Promise<MadeCall>;
  plan(principal: Principal, call: PlannedCall): Promise<void>;
}

export class OwnCalls {
  readonly #db: Queryable;
  #maker: OwnCallMaker | null = null;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Once there is a gateway. */
  bind(maker: OwnCallMaker): void {
    this.#maker = maker;
  }

  /**
   * Whether `principal` may make the call, now and as far as its capability can be called later at all, and its input is sound. Throws the Problem;
   * `param` names a field of the input, or `capability`.
   */
  plan(principal: Principal, call: PlannedCall): Promise<void> {
    return this.#requireMaker().plan(principal, call);
  }

  /** Makes the call as a key is now. A key that has ended is a failure like any other. */
  async makeAs(
    keys: KeyRing,
    { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
    call: OwnCall,
    signal: AbortSignal,
  ): Promise<MadeCall> {
    try {
      return await this.#requireMaker().make(await currentKey(keys, accountId, keyId), call, signal);
    } catch (error) {
      if (error instanceof Problem) return { problem: error, data: null, costNanos: 0n };
      throw error;
    }
  }

  #requireMaker(): OwnCallMaker {
    if (this.#maker === null) throw problem('SERVICE_UNAVAILABLE', { message: 'The service starts.' });
    return this.#maker;
  }

  /** Throws the Problem that the call failed with; NOT_FOUND for an account that is gone. */
  async make(accountId: string, call: AccountCall): Promise<void> {
    const account = await findAccount(this.#db, accountId);
    if (account === null) throw problem('NOT_FOUND', { message: 'The account is gone.' });
    const { projectId, tier, suspended } = account;
    const scopes = [call.capability];
    const { problem: failure } = await this.#requireMaker().make(
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
        rulesVersion: null,
        signedInAtMs: null,
      },
      call,
      new AbortController().signal,
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
