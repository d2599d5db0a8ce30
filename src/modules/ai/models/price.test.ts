// Prices of calls against the price sheet read plainly: every amount a fraction, and one rounding, up, at the end.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRow, Vendor } from '../../../vendors/file/port.ts';
import type { AiUsage } from '../vendors/port.ts';
import { batchModel } from './batch-model.ts';
import { aiModel } from './family.ts';
import { billedNanos, mostNanos, outputTokensFor, usedNanos } from './price.ts';

/** USD as a file writes them: whole nano-USD. */
const usd = fc.oneof(fc.nat(2_000_000_000), fc.nat(1_000), fc.constant(0)).map((nanos) => nanos / 1e9);
const rates = { input: usd, cached_input: usd, cache_write: usd, output: usd };
type Said = Record<'input' | 'cached_input' | 'cache_write' | 'output', number>;
const EDGES = [1, 10, 1_000, 200_000];
/** In any order, as an operator may write them. */
const tiers = fc
  .subarray(EDGES)
  .chain((edges) => fc.tuple(...edges.map((above) => fc.record({ above: fc.constant(above), ...rates }))))
  .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }));
const sheet = fc.record({
  base: fc.record(rates),
  tiers,
  perImage: usd,
  perRequest: usd,
  markupPct: fc.constantFrom(0 as const, 0.05 as const),
  discountMillionths: fc.constantFrom(0, 1, 333_333, 500_000, 1_000_000),
});
type Sheet = typeof sheet extends fc.Arbitrary<infer T> ? T : never;

const count = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.constantFrom(...EDGES, ...EDGES.map((edge) => edge + 1)));
const usage = fc.record({ plain: count, cached: count, written: count, output: count }).map(
  ({ plain, cached, written, output }): AiUsage => ({
    inputTokens: plain + cached + written,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens: output,
    reasoningTokens: 0,
    costUsd: null,
  }),
);
const images = fc.nat(5);

function rowOf({ base, tiers, perImage, perRequest, markupPct, discountMillionths }: Sheet, traits = {}): ModelRow {
  return {
    vendor: { id: 'acme', markupPct } as Vendor,
    traits: { batch_discount: discountMillionths / 1e6, ...traits },
    price: { ...base, tiers, per_image: perImage, per_request: perRequest },
  } as unknown as ModelRow;
}

const nanos = (amount: number) => BigInt(Math.round(amount * 1e9));
const ceil = (above: bigint, below: bigint) => (above + below - 1n) / below;

/** What it costs the vendor's customer, in millionths of nano-USD. */
function scaledCost({ base, tiers, perImage, perRequest }: Sheet, used: AiUsage, pictures: number): bigint {
  const applies = tiers.filter(({ above }) => used.inputTokens > above).toSorted((a, b) => b.above - a.above)[0];
  const { input, cached_input, cache_write, output }: Said = applies ?? base;
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = used;
  const tokens =
    BigInt(inputTokens - cachedInputTokens - cacheWriteTokens) * nanos(input) +
    BigInt(cachedInputTokens) * nanos(cached_input) +
    BigInt(cacheWriteTokens) * nanos(cache_write) +
    BigInt(outputTokens) * nanos(output);
  return tokens + 1_000_000n * (nanos(perRequest) + BigInt(pictures) * nanos(perImage));
}

describe('what was used costs', () => {
  test('what the sheet says, with markup, rounded up once, and never less than the vendor bills', () => {
    fc.assert(
      fc.property(sheet, usage, images, (said, used, pictures) => {
        const model = aiModel(rowOf(said));
        const cost = scaledCost(said, used, pictures);
        const markup = said.markupPct === 0 ? 100n : 105n;
        const charged = usedNanos(model, used, pictures);
        expect(charged).toBe(ceil(cost * markup, 100_000_000n));
        expect(billedNanos(model, used, pictures)).toBe(ceil(cost, 1_000_000n));
        expect(charged * 100_000_000n >= cost * markup).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('its share of that in batches, rounded up once', () => {
    fc.assert(
      fc.property(sheet, usage, images, (said, used, pictures) => {
        const share = BigInt(1_000_000 - said.discountMillionths) * (said.markupPct === 0 ? 100n : 105n);
        const exact = scaledCost(said, used, pictures) * share;
        expect(usedNanos(batchModel(rowOf(said)), used, pictures)).toBe(ceil(exact, 100_000_000_000_000n));
      }),
      { numRuns: 1_000 },
    );
  });

  test('to the nano-USD what the vendor says itself, to the last decimal that it says', () => {
    const digits = fc.tuple(fc.nat(1_000_000), fc.integer({ min: 0, max: 15 }), fc.boolean());
    fc.assert(
      fc.property(sheet, usage, digits, (said, used, [whole, decimals, inBatch]) => {
        const row = rowOf(said, { cost_from_usage: true });
        const costUsd = Number(`${whole}e-${decimals}`);
        const share = inBatch ? BigInt(1_000_000 - said.discountMillionths) : 1_000_000n;
        const exact = BigInt(whole) * 1_000_000_000n * share * (said.markupPct === 0 ? 100n : 105n);
        const charged = usedNanos((inBatch ? batchModel : aiModel)(row), { ...used, costUsd }, 0);
        expect(charged).toBe(ceil(exact, 100_000_000n * 10n ** BigInt(decimals)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('never less for more tokens, where larger inputs have no lower rates', () => {
    const more = fc.record({ plain: fc.nat(300_000), output: fc.nat(1_000) });
    fc.assert(
      fc.property(sheet, usage, more, (said, used, { plain, output }) => {
        let rising: Said = said.base;
        const dearer = said.tiers
          .toSorted((a, b) => a.above - b.above)
          .map((tier) => {
            const at = (name: keyof Said) => Math.max(rising[name], tier[name]);
            rising = {
              input: at('input'),
              cached_input: at('cached_input'),
              cache_write: at('cache_write'),
              output: at('output'),
            };
            return { above: tier.above, ...rising };
          });
        const model = aiModel(rowOf({ ...said, tiers: dearer }));
        const larger = { ...used, inputTokens: used.inputTokens + plain, outputTokens: used.outputTokens + output };
        expect(usedNanos(model, larger, 0) >= usedNanos(model, used, 0)).toBe(true);
      }),
    );
  });

  test('the rates of its size: an edge itself belongs below', () => {
    const above = (edge: number, input: number) => ({ above: edge, input });
    const row = { vendor: { markupPct: 0 }, traits: {}, price: { input: 1, tiers: [above(1_000, 4), above(10, 2)] } };
    const of = (inputTokens: number) => {
      const none = { cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, costUsd: null };
      return usedNanos(aiModel(row as unknown as ModelRow), { ...none, inputTokens }, 0);
    };
    expect([0, 1, 10, 11, 1_000, 1_001].map(of)).toEqual([0n, 1_000n, 10_000n, 22_000n, 2_000_000n, 4_004_000n]);
  });
});

describe('what is held', () => {
  const size = fc.record({ inputTokens: count, images, outputTokens: count, choices: fc.integer({ min: 1, max: 4 }) });

  test('is never less than any use within it costs, and never less for more', () => {
    fc.assert(
      fc.property(sheet, size, usage, (said, asked, { cachedInputTokens: cached, cacheWriteTokens: written }) => {
        const model = aiModel(rowOf(said));
        const most = mostNanos(model, asked);
        const input = asked.inputTokens + asked.images * model.imageTokens;
        const output = asked.outputTokens * asked.choices;
        for (const inputTokens of [input, Math.floor(input / 2), ...EDGES.filter((edge) => edge <= input)]) {
          const cachedInputTokens = Math.min(cached, inputTokens);
          const cacheWriteTokens = Math.min(written, inputTokens - cachedInputTokens);
          const told = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens: output };
          const used = { ...told, reasoningTokens: 0, costUsd: null };
          expect(usedNanos(model, used, asked.images) <= most).toBe(true);
        }
        for (const name of ['inputTokens', 'images', 'outputTokens', 'choices'] as const)
          expect(mostNanos(model, { ...asked, [name]: asked[name] + 1 }) >= most).toBe(true);
      }),
    );
  });

  test('for the longest output that so much pays for is no more than that, and for one token more it is', () => {
    fc.assert(
      fc.property(sheet, size, fc.bigInt({ min: 0n, max: 10n ** 12n }), (said, asked, room) => {
        const model = aiModel(rowOf({ ...said, base: { ...said.base, output: 1 } }));
        const longest = outputTokensFor(model, asked, room);
        const costOf = (outputTokens: number) => mostNanos(model, { ...asked, outputTokens });
        if (longest > 0) expect(costOf(longest) <= room).toBe(true);
        expect(costOf(longest + 1) > room).toBe(true);
      }),
    );
  });
});
