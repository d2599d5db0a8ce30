// Prices in batches.
import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import type { ModelRow, Vendor } from '../../../vendors/file/port.ts';
import { batchModel } from './batch-model.ts';
import { aiFamily, aiModel } from './family.ts';
import { mostNanos, usedNanos } from './price.ts';

const vendor = { id: 'acme', markupPct: 0 } as Vendor;
const rowOf = (traits: object) =>
  ({
    vendor,
    id: 'm-1',
    traits,
    price: { input: 1, output: 3, per_request: 0.001, tiers: [{ above: 100, input: 2 }] },
  }) as unknown as ModelRow;
const usage = {
  inputTokens: 1_000,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 10,
  reasoningTokens: 0,
  costUsd: 0.5,
};
const size = { inputTokens: 1_000, images: 0, outputTokens: 10, choices: 1 };

it('lowers every rate, and what is held for them, by the discount of the row', () => {
  const row = rowOf({ batch_discount: 0.25 });
  const [usual, batch] = [aiModel(row), batchModel(row)];
  expect(usedNanos(usual, usage, 0)).toBe(3_030_000n);
  expect(usedNanos(batch, usage, 0)).toBe(2_272_500n);
  expect(mostNanos(batch, size)).toBe((mostNanos(usual, size) * 3n) / 4n);
});

it('lowers the cost that the vendor itself tells', () => {
  const row = rowOf({ batch_discount: 0.5, cost_from_usage: true });
  expect([usedNanos(aiModel(row), usage, 0), usedNanos(batchModel(row), usage, 0)]).toEqual([
    500_000_000n,
    250_000_000n,
  ]);
});

it('leaves a row without one as it is', () => {
  const row = rowOf({});
  expect(usedNanos(batchModel(row), usage, 0)).toBe(usedNanos(aiModel(row), usage, 0));
});

it('is a share of the price, from none to all of it', () => {
  const isValid = (batch_discount: unknown) => Value.Check(aiFamily.traits, { batch_discount });
  expect([0, 0.5, 1].map(isValid)).toEqual([true, true, true]);
  expect([-0.1, 1.1, '0.5'].map(isValid)).toEqual([false, false, false]);
});
