// An item of a lane: one billable call with its price, its idempotency key and its effect.
import type { Queryable, Transaction } from '../../../db/database.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { CostApproval } from '../../callers/context.ts';
import type { IdempotencyKey } from '../../callers/idempotency-key.ts';
import type { Principal } from '../../callers/principal.ts';
import type { ScopeKind } from '../../callers/scopes.ts';

/** What an effect learns before admission: go on (with what it read), refuse, or answer as an earlier call did, for nothing. */
export type ReadVerdict<Context> =
  | {
      readonly kind: 'go';
      readonly context: Context /** Units to be billed when they are fewer than asked for. */;
      readonly units?: bigint;
    }
  | { readonly kind: 'refuse'; readonly problem: Problem }
  | { readonly kind: 'replay'; readonly text: string }
  /** A long write has locked what it works on: held for, and written in a transaction of its own that may wait. Not in answer to a hold. */
  | { readonly kind: 'defer' };

export interface AdmittedItem<Input, Context> {
  readonly item: LaneItem<Input, Context>;
  readonly context: Context;
  /** First of the item's consecutive sequence numbers. */
  readonly firstSeq: bigint;
  /** The hold of a `begin`; null of a charge. */
  readonly holdId: string | null;
}

/** What a module contributes to a lane: set-based, one call per batch, never its own wallet code. */
export interface LaneEffect<Input, Context> {
  readonly name: string;
  /** Also a large one, written outside of the lane, reads under the lock of its wallet. */
  readonly readsUnderLock?: boolean;
  /** Items that share a key never ride in one batch: the later one must see the earlier one's effect. */
  exclusiveKeys(item: LaneItem<Input, Context>): readonly string[];
  /**
   * Sends its reads; verdicts in the order of the items. In a lane under the wallet locks, but for items whose wallet someone else
   * holds: their verdicts are not used.
   */
  read(tx: Queryable, items: readonly LaneItem<Input, Context>[]): Promise<readonly ReadVerdict<Context>[]>;
  /** Sends its writes without awaiting them, and answers the JSON text of `data` per item. Must not throw for any input. */
  write(tx: Transaction, items: readonly AdmittedItem<Input, Context>[], nowMs: number): readonly string[];
  /**
   * Writes one large effect in its transaction, in place of `write`: it may await, wait for locks other than those of wallets, and
   * throw a Problem. Answers the JSON text of `data`.
   */
  writeLarge?(tx: Transaction, admitted: AdmittedItem<Input, Context>, nowMs: number): Promise<string>;
  /** After the commit: local hints such as waking consumers. */
  afterCommit?(items: readonly AdmittedItem<Input, Context>[]): void;
}

export interface LaneItem<Input = unknown, Context = unknown> {
  readonly accountId: string;
  readonly principal: Principal;
  readonly capability: string;
  readonly scope: ScopeKind;
  readonly requestId: string;
  /** Asked before it waits for its commit; null: no rule meets the call. */
  readonly approval: CostApproval | null;
  readonly units: bigint;
  readonly amount: bigint;
  readonly priceVersion: string;
  /**
   * `hold` reserves the amount; the effect is then written by its own transaction. `begin` reserves it for work that goes on after the
   * call: hold, effect and answer commit together.
   */
  readonly mode: 'charge' | 'hold' | 'begin';
  /** A hold that nobody settles or renews is released after this time; 15 minutes when absent, never when null: then `holdOwner` is work. */
  readonly holdMs?: number | null;
  /** Who renews the hold, or alone ends it: a process, or work that outlives processes, as `<module>:<id>`. Every hold has one. */
  readonly holdOwner?: string;
  readonly idempotency: IdempotencyKey | null;
  readonly keepMs: number;
  /** Of a `begin` whose call waits for the end of its work: the key is answered by what settles the hold, and free again when that is released. */
  readonly answersAtEnd?: boolean;
  /** How many sequence numbers the effect needs. */
  readonly sequences: number;
  /** Approximate memory of the item, for the bound on waiting work. */
  readonly bytes: number;
  readonly effect: LaneEffect<Input, Context>;
  readonly input: Input;
}

/** A hold authorised in a lane, with what its effect needs to be written later. */
export interface AuthorizedHold<Context = unknown> {
  readonly holdId: string;
  /** What is reserved, nano-USD. */
  readonly amount: bigint;
  readonly context: Context;
  readonly firstSeq: bigint;
  readonly nowMs: number;
}

export type LaneOutcome =
  | { readonly kind: 'done'; readonly text: string; readonly costNanos: bigint; readonly balanceNanos: bigint }
  | { readonly kind: 'held'; readonly hold: AuthorizedHold; readonly balanceNanos: bigint }
  | { readonly kind: 'replayed'; readonly text: string; readonly balanceNanos: bigint }
  | { readonly kind: 'refused'; readonly problem: Problem }
  /** To be submitted again as a hold. */
  | { readonly kind: 'deferred' };
