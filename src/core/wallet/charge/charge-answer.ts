// Charge of a computed answer without an effect: it reads nothing, and writes nothing but the module's count of accepted units.

import type { Queryable } from '../../../db/database.ts';
import type { CallContext } from '../../callers/context.ts';
import { tierLimits } from '../../callers/tiers.ts';
import { readFunds } from '../funds.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../lane/lane-item.ts';
import { countAccepted } from '../ledger/accepted-units.ts';
import { type ChargedAnswer, type ChargeServices, chargeForWork, priceOfCall } from './charge.ts';

/** Of a ledger entry and its kin. */
export const ANSWER_ROW_BYTES = 1_024;

export class AnswerEffect implements LaneEffect<string, null> {
  readonly name: string;

  /** `name`: of the capability, in failures. */
  constructor(name: string) {
    this.name = name;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(_tx: Queryable, items: readonly LaneItem<string, null>[]): Promise<ReadVerdict<null>[]> {
    return items.map(() => ({ kind: 'go', context: null }));
  }

  write(tx: Queryable, admitted: readonly AdmittedItem<string, null>[]): string[] {
    const items = admitted.map(({ item }) => item);
    void countAccepted(tx, items);
    return items.map(({ input }) => input);
  }
}

/** Others may be on their way: funds that would not last for all of them are held first, and so is what a key's cap may not cover. */
export function mayFallShort(ctx: CallContext<ChargeServices>, amountNanos: bigint, funds: bigint): boolean {
  const inFlight = BigInt(tierLimits[ctx.tier].inFlightMax);
  return ctx.principal.hasSpendCap || funds < amountNanos * inFlight;
}

/**
 * Charges so many units of the call for the JSON text that `work` answers. What cannot be paid for is refused before it. `quoteNanos`: where
 * the price book does not say what a unit costs.
 */
export async function chargeForAnswer(
  ctx: CallContext<ChargeServices>,
  effect: AnswerEffect,
  units: bigint,
  work: () => Promise<string>,
  quoteNanos?: () => bigint,
): Promise<ChargedAnswer> {
  const funds = await readFunds(ctx.core.db.hot, ctx.accountId);
  const holdFirst = mayFallShort(ctx, quoteNanos?.() ?? priceOfCall(ctx, units), funds);
  const charge = { units, effect, sequences: 0, bytes: ANSWER_ROW_BYTES, rows: 1, ...(quoteNanos && { quoteNanos }) };
  return chargeForWork(ctx, charge, holdFirst, work);
}
