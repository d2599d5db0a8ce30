// Paid writes, defined per call: what a call needs, refuses and writes. Each runs as an effect of the wallet's lane. So price, idempotency,
// budget, rows, events and the count of accepted units are one commit, shared with other calls of the account.
import type { Principal } from '../core/callers/principal.ts';
import type { Tier } from '../core/callers/tiers.ts';
import { type ChargedAnswer, chargeInLane } from '../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../core/wallet/ledger/accepted-units.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { toJson } from '../lib/json-text.ts';
import { Problem } from '../problems/problem.ts';
import type { CallContext, Services } from './services.ts';

/** Of what a call keeps in memory and writes beside its input: a row, an event, entries of the ledger. */
const ROW_BYTES = 1_024;

/** Who calls, as a paid write sees them. */
export interface PaidCall<State> {
  readonly accountId: string;
  readonly tier: Tier;
  readonly principal: Principal;
  readonly requestId: string;
  readonly core: Services;
  readonly state: State;
}

/** A paid write that was admitted. */
export interface AdmittedCall<State> extends PaidCall<State> {
  /** What it is charged. */
  readonly amountNanos: bigint;
}

export interface PaidWrite<State, Input, Found> {
  /** In the form `module.act`. */
  readonly name: string;
  /** Calls of an account never share a commit: each sees the rows of those before it. For what counts rows, or looks whether a name is free. */
  readonly isOneByOne?: boolean;
  /** Reads what the call needs. Throws the Problem of a refusal, which costs nothing. */
  check(tx: Queryable, call: PaidCall<State>, input: Input): Promise<Found>;
  /** Sends its rows and events without awaiting them, and answers `data`. Never throws. */
  write(tx: Transaction, call: AdmittedCall<State>, input: Input, found: Found, nowMs: number): object;
}

/** What a capability runs: charges one unit of its price and writes. Called once, at import. */
export function paidWrite<State, Input, Found>(
  of: PaidWrite<State, Input, Found>,
): (call: { readonly ctx: CallContext; readonly input: Input; readonly state: State }) => Promise<ChargedAnswer> {
  const effect = new WriteEffect(of);
  return ({ ctx, input, state }) => {
    const { accountId, tier, principal, requestId, core } = ctx;
    const sent = { call: { accountId, tier, principal, requestId, core, state }, input };
    const bytes = ROW_BYTES + Buffer.byteLength(ctx.inputText);
    return chargeInLane(ctx, { units: 1n, effect, input: sent, sequences: 0, bytes, rows: 1 });
  };
}

interface Sent<State, Input> {
  readonly call: PaidCall<State>;
  readonly input: Input;
}

class WriteEffect<State, Input, Found> implements LaneEffect<Sent<State, Input>, Found> {
  readonly name: string;
  readonly #of: PaidWrite<State, Input, Found>;

  constructor(of: PaidWrite<State, Input, Found>) {
    this.name = of.name;
    this.#of = of;
  }

  exclusiveKeys({ accountId }: LaneItem<Sent<State, Input>, Found>): readonly string[] {
    return this.#of.isOneByOne === true ? [accountId] : [];
  }

  read(tx: Queryable, items: readonly LaneItem<Sent<State, Input>, Found>[]): Promise<ReadVerdict<Found>[]> {
    return Promise.all(items.map(({ input: { call, input } }) => verdictOf(() => this.#of.check(tx, call, input))));
  }

  write(tx: Transaction, admitted: readonly AdmittedItem<Sent<State, Input>, Found>[], nowMs: number): string[] {
    const items = admitted.map(({ item }) => item);
    void countAccepted(tx, items);
    return admitted.map(({ item: { input: sent, amount: amountNanos }, context }) =>
      toJson(this.#of.write(tx, { ...sent.call, amountNanos }, sent.input, context, nowMs)),
    );
  }
}

async function verdictOf<Found>(check: () => Promise<Found>): Promise<ReadVerdict<Found>> {
  try {
    return { kind: 'go', context: await check() };
  } catch (error) {
    if (error instanceof Problem) return { kind: 'refuse', problem: error };
    throw error;
  }
}
