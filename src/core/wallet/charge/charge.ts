// Charges a billable call: price, idempotency, budget, wallet and effect commit together in the account's lane. An effect too large for a shared
// batch takes a hold in the lane and is written in its own transaction (charge-large.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import { exactBackoffMs } from '../../../lib/backoff.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { CallContext } from '../../callers/context.ts';
import type { IdempotencyKey } from '../../callers/idempotency-key.ts';
import type { Logger } from '../../process/logger.ts';
import type { Holds } from '../holds/holds.ts';
import type { LaneEffect, LaneItem, LaneOutcome } from '../lane/lane-item.ts';
import type { Lanes } from '../lane/lanes.ts';
import { type PriceBook, priceOf } from '../prices.ts';
import { chargeLarge } from './charge-large.ts';

/** The services that a charge needs. */
export interface ChargeServices {
  readonly db: Database;
  readonly lanes: Lanes;
  readonly holds: Holds;
  readonly prices: PriceBook;
  readonly log: Logger;
}

/** What is charged for. Capability, scope and price are those of the called capability's record, which alone says them. */
export interface Charge<Input, Context> {
  readonly units: bigint;
  /** In place of the units at the price of the price book. Of work: the most that it may cost; what it did cost is asked when it is done. */
  readonly quoteNanos?: () => bigint;
  readonly effect: LaneEffect<Input, Context>;
  readonly input: Input;
  /** How many sequence numbers of the account the effect needs. */
  readonly sequences: number;
  /** Approximate size of what the effect writes. */
  readonly bytes: number;
  /** Bytes that wait with the call in its lane, when these are not those. */
  readonly waitingBytes?: number;
  /** Rows that the effect writes. */
  readonly rows: number;
  /** In place of the key sent with the call. */
  readonly idempotency?: IdempotencyKey;
  /** How long the answer of the key is kept; a day when absent. */
  readonly keepMs?: number;
}

/** The outcome of a billable call, as a capability answers it. */
export interface ChargedAnswer {
  readonly data: JsonText;
  readonly costNanos: bigint;
  readonly replayed: boolean;
  readonly balanceNanos: bigint;
}

// Beyond these an effect would make the account's other calls wait.
const SHARED_BYTES_MAX = 256 * 1024;
const SHARED_ROWS_MAX = 100;
// How long a call waits for another one with its idempotency key (contract §4).
const IN_FLIGHT_WAIT_MS = 2_000;
const IN_FLIGHT_BACKOFF = { firstMs: 25, maxMs: 200 };

/** What so many units of the called capability cost, nano-USD. */
export function priceOfCall(
  {
    capability,
    priceEntry,
    core,
  }: Pick<CallContext<Pick<ChargeServices, 'prices'>>, 'capability' | 'priceEntry' | 'core'>,
  units: bigint,
): bigint {
  if (priceEntry === null) throw new Error(`${capability} is free and cannot be charged`);
  return priceOf(core.prices, priceEntry, units);
}

/** Charges the call and has its effect written, together or not at all. Throws the Problem of a refusal. */
export async function chargeInLane<Input, Context>(
  ctx: CallContext<ChargeServices>,
  charge: Charge<Input, Context>,
): Promise<ChargedAnswer> {
  const large = charge.bytes > SHARED_BYTES_MAX || charge.rows > SHARED_ROWS_MAX;
  const item = laneItem(ctx, charge, large ? 'hold' : 'charge');
  const outcome = await outcomeOrWait(() => ctx.core.lanes.submit(item as LaneItem));
  if (outcome.kind !== 'deferred') return finish(ctx, item, outcome);
  const held = laneItem(ctx, charge, 'hold');
  return finish(
    ctx,
    held,
    await outcomeOrWait(() => ctx.core.lanes.submit(held as LaneItem)),
    ctx.core.holds.deferredWrites,
  );
}

/**
 * Charges for work that writes nothing, with its outcome as the effect's input: what fails costs nothing, and only what is charged
 * is answered. `holdFirst`: the price is held before the work, for funds that may not last; it takes a second transaction.
 */
export async function chargeForWork<Input extends string, Context>(
  ctx: CallContext<ChargeServices>,
  charge: Omit<Charge<Input, Context>, 'input'>,
  holdFirst: boolean,
  work: () => Promise<Input>,
): Promise<ChargedAnswer> {
  await ctx.approval?.require(charge.quoteNanos?.() ?? priceOfCall(ctx, charge.units));
  if (!holdFirst) {
    const input = await work();
    return chargeInLane(ctx, { ...charge, input, waitingBytes: charge.bytes + input.length });
  }
  const call = laneItem(ctx, { ...charge, input: '' as Input }, 'hold');
  const outcome = await ctx.core.holds.authorize(call as LaneItem);
  if (outcome.kind !== 'held') return finish(ctx, call, outcome);
  const { holdId } = outcome.hold;
  return ctx.core.holds.during(ctx.accountId, holdId, async () => {
    let input: Input;
    try {
      input = await work();
    } catch (error) {
      await ctx.core.holds.release(ctx.accountId, holdId).catch((err: unknown) => {
        ctx.core.log.warn({ err, holdId }, 'a hold could not be released; it expires by itself');
      });
      throw error;
    }
    return finish(ctx, { ...call, input, amount: charge.quoteNanos?.() ?? call.amount }, outcome);
  });
}

/**
 * Begins work that goes on after the call: its effect, the hold of the most that it may cost and the answer commit together. The hold
 * belongs to `owner` (`<module>:<id>`) and never ends by itself: whoever ends the work captures or releases it.
 */
export async function beginWork<Input, Context>(
  ctx: CallContext<ChargeServices>,
  work: Charge<Input, Context> & {
    readonly amountNanos: bigint;
    readonly owner: string;
    readonly answersAtEnd?: boolean;
  },
): Promise<ChargedAnswer> {
  const item: LaneItem<Input, Context> = {
    ...laneItem(ctx, work, 'begin'),
    amount: work.amountNanos,
    holdMs: null,
    holdOwner: work.owner,
    ...(work.answersAtEnd === undefined ? {} : { answersAtEnd: work.answersAtEnd }),
  };
  return finish(ctx, item, await outcomeOrWait(() => ctx.core.lanes.submit(item as LaneItem)));
}

async function finish<Input, Context>(
  ctx: CallContext<ChargeServices>,
  item: LaneItem<Input, Context>,
  outcome: LaneOutcome,
  turns = ctx.core.holds.largeWrites,
): Promise<ChargedAnswer> {
  switch (outcome.kind) {
    case 'refused':
      throw outcome.problem;
    case 'deferred':
      throw new Error(`the effect ${item.effect.name} defers a hold`);
    case 'replayed':
      return answerOf(outcome.text, 0n, true, outcome.balanceNanos);
    case 'done':
      return answerOf(outcome.text, outcome.costNanos, false, outcome.balanceNanos);
    case 'held': {
      const large = await chargeLarge(ctx.core, item, outcome.hold, turns);
      return answerOf(large.text, large.costNanos, large.replayed, large.balanceNanos);
    }
  }
}

function laneItem<Input, Context>(
  ctx: CallContext<ChargeServices>,
  charge: Charge<Input, Context>,
  mode: LaneItem['mode'],
): LaneItem<Input, Context> {
  const { core } = ctx;
  return {
    accountId: ctx.accountId,
    principal: ctx.principal,
    capability: ctx.capability,
    scope: ctx.scope,
    requestId: ctx.requestId,
    approval: ctx.approval,
    units: charge.units,
    amount: charge.quoteNanos?.() ?? priceOfCall(ctx, charge.units),
    priceVersion: core.prices.version,
    mode,
    holdMs: core.holds.termMs,
    holdOwner: core.holds.owner,
    idempotency: charge.idempotency ?? ctx.idempotency,
    keepMs: charge.keepMs ?? DAY_MS,
    sequences: charge.sequences,
    bytes: charge.waitingBytes ?? charge.bytes,
    effect: charge.effect,
    input: charge.input,
  };
}

/** A call with the key that runs in another process, or under a hold, is given two seconds to finish. */
export async function outcomeOrWait(submit: () => Promise<LaneOutcome>): Promise<LaneOutcome> {
  const giveUpAt = performance.now() + IN_FLIGHT_WAIT_MS;
  for (let looks = 1; ; looks += 1) {
    const outcome = await submit();
    const inFlight = outcome.kind === 'refused' && outcome.problem.code === 'IDEMPOTENCY_IN_FLIGHT';
    const pauseMs = exactBackoffMs(IN_FLIGHT_BACKOFF, looks);
    if (!inFlight || performance.now() + pauseMs > giveUpAt) return outcome;
    await sleep(pauseMs);
  }
}

function answerOf(text: string, costNanos: bigint, replayed: boolean, balanceNanos: bigint): ChargedAnswer {
  return { data: new JsonText(text), costNanos, replayed, balanceNanos };
}
