// A model at the price that it has in batches.
import type { ModelRow } from '../../../vendors/file/port.ts';
import { type AiModel, aiModel } from './family.ts';

const inBatches = new WeakMap<ModelRow, AiModel>();

/** The same at the price that it has in batches. */
export function batchModel(row: ModelRow): AiModel {
  const known = inBatches.get(row);
  if (known !== undefined) return known;
  const model = discounted(aiModel(row));
  inBatches.set(row, model);
  return model;
}

const DISCOUNT_UNIT = 1_000_000n;

function discounted(model: AiModel): AiModel {
  const share = DISCOUNT_UNIT - BigInt(Math.round(model.batchDiscount * Number(DISCOUNT_UNIT)));
  const less = (amount: bigint) => (amount * share + DISCOUNT_UNIT - 1n) / DISCOUNT_UNIT;
  const tiers = model.tiers.map(({ above, rates }) => ({
    above,
    rates: {
      input: less(rates.input),
      cachedInput: less(rates.cachedInput),
      cacheWrite: less(rates.cacheWrite),
      output: less(rates.output),
    },
  }));
  const { perImage, perRequest } = model;
  const priceShare = Number(share) / Number(DISCOUNT_UNIT);
  return { ...model, priceShare, perImage: less(perImage), perRequest: less(perRequest), tiers };
}
