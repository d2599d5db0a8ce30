// Reservation of money for a model call, before any vendor is asked: the most that it may cost anywhere in its chain. An output limit that the
// caller did not set shrinks to what wallet and budget cover.

import { outcomeOrWait } from '../../../core/wallet/charge/charge.ts';
import type { LaneOutcome } from '../../../core/wallet/lane/lane-item.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import type { Chain } from '../../../routing/walk.ts';
import { OUTPUT_TOKENS_LEAST } from '../limits.ts';
import { isUsualLimit, outputTokensOf, sizeOf } from '../models/choose.ts';
import type { AiModel } from '../models/family.ts';
import { mostNanos, outputTokensFor, pricedModel } from '../models/price.ts';
import type { ChatAsk } from './ask.ts';
import type { ModelCall } from './model-call.ts';

export interface Reserved {
  readonly kind: 'held';
  readonly holdId: string;
  readonly nanos: bigint;
  /** The limit that is sent to a model: no answer costs more than is held. */
  outputTokensOf(model: AiModel): number;
}

/** What an earlier call with the idempotency key answered. */
export interface Replayed {
  readonly kind: 'replayed';
  readonly text: string;
  readonly balanceNanos: bigint;
}

/** `units`: tokens, as they are booked until the hold is settled. */
interface Wanted {
  readonly units: bigint;
  readonly amount: bigint;
  readonly priceVersion: string;
}

/** Other calls of the wallet may take what was left: then it is looked at again. */
const TRIES = 3;

/** Throws the Problem of a refusal: INSUFFICIENT_CREDIT says how long an output could be paid for. */
export async function reserveForChat(ctx: ModelCall, ask: ChatAsk, chain: Chain): Promise<Reserved | Replayed> {
  const models = chain.map(({ row }) => pricedModel(ctx, row));
  let longest = Number.POSITIVE_INFINITY;
  const limitOf = (model: AiModel) => Math.min(outputTokensOf(model, ask), longest);
  for (let tries = 1; ; tries += 1) {
    const amount = highest(
      models.map((model) => mostNanos(model, { ...sizeOf(ask, model), outputTokens: limitOf(model) })),
    );
    const inputTokens = Math.max(...models.map((model) => sizeOf(ask, model).inputTokens));
    const units = BigInt(inputTokens + ask.choices * Math.max(...models.map(limitOf)));
    const outcome = await hold(ctx, { units, amount, priceVersion: chain[0].priceVersion });
    if (outcome.kind !== 'refused') {
      if (longest !== Number.POSITIVE_INFINITY) {
        ctx.warnings.push(
          `${ask.names.limit}: ${longest}, as many as the credit left pays for; set it to have another limit`,
        );
      }
      const [first] = models;
      if (first !== undefined && isUsualLimit(ask) && limitOf(first) < (ask.outputTokens ?? 0))
        ctx.warnings.push(`${ask.names.limit}: ${limitOf(first)}, as many as the model gives here`);
      return settledBy(outcome, amount, limitOf);
    }
    const { shortfall } = outcome.problem;
    if (shortfall === undefined) throw outcome.problem;
    const payable = Math.min(...models.map((model) => outputTokensFor(model, sizeOf(ask, model), shortfall.roomNanos)));
    const isFixed = ask.outputTokens !== null || ctx.item?.mayShrink === false;
    if (isFixed || payable < OUTPUT_TOKENS_LEAST || tries === TRIES)
      throw withPayableTokens(outcome.problem, payable, ask.names.limit);
    longest = payable;
  }
}

/** The same of a call whose price nothing can lower. */
export async function reserve(ctx: ModelCall, wanted: Wanted): Promise<Omit<Reserved, 'outputTokensOf'> | Replayed> {
  const outcome = await hold(ctx, wanted);
  if (outcome.kind === 'refused') throw outcome.problem;
  return settledBy(outcome, wanted.amount, () => 0);
}

function hold(ctx: ModelCall, { units, amount, priceVersion }: Wanted): Promise<LaneOutcome> {
  const { accountId, principal, capability, scope, requestId, approval, idempotency } = ctx;
  const { holds } = ctx.core;
  return outcomeOrWait(() =>
    holds.authorize({
      accountId,
      principal,
      capability,
      scope,
      requestId,
      approval,
      idempotency,
      units,
      amount,
      priceVersion,
      holdMs: holds.termMs,
      holdOwner: holds.owner,
      keepMs: DAY_MS,
    }),
  );
}

function settledBy(outcome: LaneOutcome, nanos: bigint, outputTokens: Reserved['outputTokensOf']): Reserved | Replayed {
  if (outcome.kind === 'replayed') return { kind: 'replayed', text: outcome.text, balanceNanos: outcome.balanceNanos };
  if (outcome.kind !== 'held') throw new Error(`a hold was ${outcome.kind}`);
  return { kind: 'held', holdId: outcome.hold.holdId, nanos, outputTokensOf: outputTokens };
}

function withPayableTokens(refused: Problem, payable: number, limit: string): Problem {
  const { shortfall, detail, message } = refused;
  // Whoever may not see what is left is not told by the way either.
  if (shortfall === undefined || shortfall.leftNanos === null) return refused;
  const pays =
    payable < 1 ? 'It does not pay for the input.' : `It pays for an output of ${payable} tokens: set ${limit}.`;
  return problem('INSUFFICIENT_CREDIT', { message: `${message} ${pays}`, detail, shortfall });
}

function highest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}
