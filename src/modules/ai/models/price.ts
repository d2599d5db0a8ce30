// Prices of model calls: the most that a call may cost, which is held, and its actual cost. Nano-USD with markup, rounded up once.

import { decimalOf, NANOS_PER_USD } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { ModelRow, Vendor } from '../../../vendors/file/port.ts';
import type { ModelCall } from '../calls/model-call.ts';
import type { AiUsage } from '../vendors/port.ts';
import { batchModel } from './batch-model.ts';
import { type AiModel, aiModel, type Rates } from './family.ts';

const MILLION = 1_000_000n;

/** What models are compared by, whatever is asked of them: three parts of input with one of output, at a million tokens. */
export function comparedNanos({ tiers, row }: AiModel): bigint {
  const { input = 0n, output = 0n } = tiers[0]?.rates ?? {};
  return quoteOf(row.vendor, 3n * input + output, 1n);
}

/** What is sent to a model. */
export interface Size {
  /** Estimated from above. */
  readonly inputTokens: number;
  readonly images: number;
  /** The most of one choice. */
  readonly outputTokens: number;
  readonly choices: number;
}

/** The model at the price of the call: batches have one of their own. */
export function pricedModel({ item }: Pick<ModelCall, 'item'>, row: ModelRow): AiModel {
  return item === undefined ? aiModel(row) : batchModel(row);
}

/** The most that it may cost. */
export function mostNanos(model: AiModel, { inputTokens, images, outputTokens, choices }: Size): bigint {
  const input = inputTokens + images * model.imageTokens;
  const applicable = model.tiers.filter(({ above }) => above < input).map(({ rates }) => rates);
  const dearest = most(applicable.flatMap(({ input, cachedInput, cacheWrite }) => [input, cachedInput, cacheWrite]));
  const output = BigInt(outputTokens) * BigInt(choices) * most(applicable.map((rates) => rates.output));
  return totalNanos(model, BigInt(input) * dearest + output, images);
}

/** More is no answer's: the longest context that a row may have. */
const TOKENS_MAX = 100_000_000;
/** Of one call. */
const COST_USD_MAX = 1_000_000;

/** What a vendor tells, as far as it can be: tokens beyond all bounds are as if it told nothing, and so is a cost that cannot be. */
export function soundUsage(usage: AiUsage | null): AiUsage | null {
  if (usage === null) return null;
  const { costUsd, ...tokens } = usage;
  if (Object.values(tokens).some((count) => count > TOKENS_MAX)) return null;
  const isSound = costUsd !== null && costUsd >= 0 && costUsd <= COST_USD_MAX;
  return isSound ? usage : { ...usage, costUsd: null };
}

/** The longest output that so much pays for; below 1: not even the input. */
export function outputTokensFor(model: AiModel, size: Omit<Size, 'outputTokens'>, roomNanos: bigint): number {
  const costOf = (outputTokens: number) => mostNanos(model, { ...size, outputTokens });
  if (costOf(1) > roomNanos) return 0;
  let [fits, fails] = [1, 2 ** 31];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (costOf(middle) <= roomNanos) fits = middle;
    else fails = middle;
  }
  return fits;
}

/** What the tokens did cost the operator, without markup. */
export function billedNanos(model: AiModel, usage: AiUsage, images: number): bigint {
  return usedNanos(model, usage, images, { markupPct: 0 });
}

/** What the tokens did cost. */
export function usedNanos(
  model: AiModel,
  usage: AiUsage,
  images: number,
  vendor: Pick<Vendor, 'markupPct'> = model.row.vendor,
): bigint {
  if (model.costFromUsage && usage.costUsd !== null) {
    const { digits, unit } = decimalOf(usage.costUsd);
    return quoteOf(vendor, digits * NANOS_PER_USD * model.shareMillionths, 1n, unit * MILLION);
  }
  const rates = ratesFor(model, usage.inputTokens);
  const plain = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens);
  const scaled =
    BigInt(plain) * rates.input +
    BigInt(usage.cachedInputTokens) * rates.cachedInput +
    BigInt(usage.cacheWriteTokens) * rates.cacheWrite +
    BigInt(usage.outputTokens) * rates.output;
  return totalNanos(model, scaled, images, vendor);
}

/** `scaled`: nano-USD times a million. */
function totalNanos(
  { row, perImage, perRequest, shareMillionths }: AiModel,
  scaled: bigint,
  images: number,
  vendor: Pick<Vendor, 'markupPct'> = row.vendor,
): bigint {
  const whole = scaled + MILLION * (perRequest + BigInt(images) * perImage);
  return quoteOf(vendor, whole * shareMillionths, 1n, MILLION * MILLION);
}

function ratesFor({ tiers }: AiModel, inputTokens: number): Rates {
  const tier = tiers.findLast(({ above }) => above < inputTokens);
  if (tier === undefined) throw new Error('a model has no base rates');
  return tier.rates;
}

function most(amounts: readonly bigint[]): bigint {
  return amounts.reduce((highest, amount) => (amount > highest ? amount : highest), 0n);
}
