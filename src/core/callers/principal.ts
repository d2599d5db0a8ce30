// Principals: API keys and user sessions. Each acts for one account, pays from its wallet, and is checked again under the locks of each change.
// A principal that has ended by then changes nothing. A new type of principal adds a PrincipalKind and needs no other change.
import type { Queryable } from '../../db/database.ts';
import type { Problem } from '../../problems/problem.ts';
import type { CapColumns } from './key-cap.ts';
import type { Tier } from './tiers.ts';

/** Why a credential lets nobody in, or nobody any more. Only a right one says what became of its principal. */
export type Ended = 'unknown' | 'revoked' | 'expired';

/** Why a credential stands for nobody: also a signature that does not match, or is of another time. */
export type NoPrincipal = Ended | 'signature' | 'clock';

/** A principal as it was when the call began. */
export interface Principal {
  readonly kind: PrincipalKind;
  /** What it spends and does is booked under this id. */
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  /** null = all modules. */
  readonly scopes: readonly string[] | null;
  readonly tier: Tier;
  readonly suspended: boolean;
  /** False for a secret that a newer one has replaced and that lives on for its grace. */
  readonly isCurrent: boolean;
  /** The lane knows how much of it is left. */
  readonly hasSpendCap: boolean;
  /** Of the approval rules that its calls are asked about; 0: the account has none; null: none binds it, as a person who signed in. */
  readonly rulesVersion: bigint | null;
  /** When the person signed in; null: a key, which nobody signs in with. */
  readonly signedInAtMs: number | null;
}

/** The same principal under the locks of a transaction. */
export interface LivePrincipal {
  readonly id: string;
  readonly scopes: readonly string[] | null;
  /** Null: it lives. */
  readonly ended: Exclude<Ended, 'unknown'> | null;
  /** When it ends, whatever secret it was called with; null: never. */
  readonly expiresAtMs: number | null;
  readonly isCurrent: boolean;
  /** Null: it has no spend cap of its own. */
  readonly cap: CapColumns | null;
}

/** What the service knows of principals of one kind. Methods get only those of that kind. */
export interface PrincipalKind {
  readonly name: string;
  /** As it is now, at most a second old: for calls that last. */
  again(principal: Principal): Promise<Principal | Ended>;
  /**
   * Sends one statement, and answers in the order of `principals`; undefined: it is gone. `accounts`: theirs, as a text array.
   */
  readLive(
    tx: Queryable,
    accounts: Buffer,
    principals: readonly Principal[],
  ): Promise<readonly (LivePrincipal | undefined)[]>;
  /** The refusal of one that has ended. */
  refusal(ended: Ended): Problem;
}

/** Reads principals of any kinds, a statement a kind, sent at once. */
export async function readLivePrincipals(
  tx: Queryable,
  accounts: Buffer,
  principals: Iterable<Principal>,
): Promise<Map<Principal, LivePrincipal>> {
  const live = new Map<Principal, LivePrincipal>();
  const kinds = Map.groupBy(new Set(principals), ({ kind }) => kind);
  await Promise.all(
    [...kinds].map(async ([kind, of]) => {
      const found = await kind.readLive(tx, accounts, of);
      of.forEach((principal, i) => {
        const now = found[i];
        if (now !== undefined) live.set(principal, now);
      });
    }),
  );
  return live;
}
