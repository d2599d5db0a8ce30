// A charge for what is made piece by piece: the most that it may cost is held before anything is made, and what was made is captured at
// its end, whatever ended it: the last piece, a failure, or a client that left.
import { JsonText } from '../../../lib/json-text.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { CallContext } from '../../context.ts';
import { priceOfCall } from './charge.ts';

export interface StreamCharge {
  /** Held for; no more is charged, whatever is counted. */
  readonly unitsMax: bigint;
  /** Nano-USD of so many units; the price book's when absent. Grows with the units. */
  readonly priceOf?: (units: bigint) => bigint;
}

/** What the charge of a stream came to. */
export interface StreamCost {
  readonly units: bigint;
  readonly costNanos: bigint;
  readonly balanceNanos: bigint;
}

/** Counts what is made. */
export interface Meter {
  /** Of each piece before it is given out. */
  add(units: bigint): void;
  /** Ends the charge, and answers what it came to: for a last piece that tells it. `answer`: JSON text for repeats of the call's key. */
  settle(answer?: string): Promise<StreamCost>;
}

export type StreamStart<T> =
  | { readonly kind: 'stream'; readonly stream: MeteredStream<T> }
  /** What an earlier call with the idempotency key answered. */
  | { readonly kind: 'replay'; readonly data: JsonText };

/** Holds the price of `unitsMax`, then makes the stream. Throws the Problem of a refusal: then nothing is made. */
export async function chargeForStream<T>(
  ctx: CallContext,
  charge: StreamCharge,
  make: (meter: Meter) => AsyncIterable<T>,
): Promise<StreamStart<T>> {
  const { core, accountId, principal, capability, scope, requestId, idempotency } = ctx;
  const priceOf = charge.priceOf ?? ((units: bigint) => priceOfCall(ctx, units));
  const { holds, prices } = core;
  const outcome = await holds.authorize({
    ...{ accountId, principal, capability, scope, requestId, idempotency },
    units: charge.unitsMax,
    amount: priceOf(charge.unitsMax),
    priceVersion: prices.version,
    holdMs: holds.termMs,
    holdOwner: holds.owner,
    keepMs: DAY_MS,
  });
  if (outcome.kind === 'refused') throw outcome.problem;
  if (outcome.kind === 'replayed') return { kind: 'replay', data: new JsonText(outcome.text) };
  if (outcome.kind !== 'held') throw new Error(`a hold was ${outcome.kind}`);
  const meter = new HoldMeter(ctx, outcome.hold.holdId, charge.unitsMax, priceOf);
  return { kind: 'stream', stream: new MeteredStream(meter, make(meter)) };
}

class HoldMeter implements Meter {
  readonly #ctx: CallContext;
  readonly #holdId: string;
  readonly #unitsMax: bigint;
  readonly #priceOf: (units: bigint) => bigint;
  readonly #ended = Promise.withResolvers<void>();
  #units = 0n;
  #settling: Promise<StreamCost> | null = null;
  costNanos = 0n;

  constructor(ctx: CallContext, holdId: string, unitsMax: bigint, priceOf: (units: bigint) => bigint) {
    this.#ctx = ctx;
    this.#holdId = holdId;
    this.#unitsMax = unitsMax;
    this.#priceOf = priceOf;
    void ctx.core.holds.during(ctx.accountId, holdId, () => this.#ended.promise);
  }

  add(units: bigint): void {
    const sum = this.#units + units;
    this.#units = sum < this.#unitsMax ? sum : this.#unitsMax;
  }

  settle(answer?: string): Promise<StreamCost> {
    this.#settling ??= this.#settle(answer).finally(() => this.#ended.resolve());
    return this.#settling;
  }

  async #settle(answer: string | undefined): Promise<StreamCost> {
    const { core, accountId } = this.#ctx;
    const units = this.#units;
    const kept = answer === undefined ? undefined : { text: answer };
    const capturedNanos = units === 0n ? 0n : this.#priceOf(units);
    const end =
      units === 0n
        ? await core.holds.release(accountId, this.#holdId, kept)
        : await core.holds.capture(accountId, this.#holdId, {
            ...{ capturedNanos, units, priceVersion: core.prices.version },
            ...(kept === undefined ? {} : { answer: kept }),
          });
    this.costNanos = end?.capturedNanos ?? 0n;
    return { units, costNanos: this.costNanos, balanceNanos: end?.balanceNanos ?? 0n };
  }
}

/** What is made, to be read once. However the reading ends, the charge ends with it. */
export class MeteredStream<T> implements AsyncIterableIterator<T> {
  readonly #meter: HoldMeter;
  readonly #pieces: AsyncIterator<T>;

  constructor(meter: HoldMeter, pieces: AsyncIterable<T>) {
    this.#meter = meter;
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Charged; 0 until it has ended. */
  get costNanos(): bigint {
    return this.#meter.costNanos;
  }

  async next(): Promise<IteratorResult<T>> {
    try {
      const piece = await this.#pieces.next();
      if (piece.done === true) await this.#meter.settle();
      return piece;
    } catch (error) {
      await this.#meter.settle();
      throw error;
    }
  }

  /** Nobody reads on. What is being made just now is waited for: it listens to the call's signal. */
  async return(): Promise<IteratorResult<T>> {
    try {
      await this.#pieces.return?.();
    } finally {
      await this.#meter.settle();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
