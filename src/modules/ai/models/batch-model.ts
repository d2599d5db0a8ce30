// A model at its batch price: the row's batch discount applied.
import type { ModelRow } from '../../../vendors/file/port.ts';
import { type AiModel, aiModel } from './family.ts';

const MILLIONTHS = 1_000_000;

/** The same at the price that it has in batches. */
export function batchModel(row: ModelRow): AiModel {
  const model = aiModel(row);
  const discount = BigInt(Math.round(model.batchDiscount * MILLIONTHS));
  return { ...model, shareMillionths: BigInt(MILLIONTHS) - discount };
}
