// The answer of the operation that quotes a job's cost.
import Type from 'typebox';
import { usd } from '../../lib/money.ts';
import type { Vendors } from '../../routing/vendors.ts';
import type { JobPlan } from '../plan.ts';

/** `made`: `the video`. */
export const quotedSchemaOf = (made: string) =>
  Type.Object({
    chain: Type.Array(
      Type.Object({
        vendor: Type.String({ description: 'Who would be asked.' }),
        model: Type.String({ description: 'For which model.' }),
        up: Type.Boolean({ description: 'Whether it answers at present.' }),
        price_usd: Type.Number({ description: `What ${made} would cost there, without storage.` }),
      }),
      { description: 'At most three, in the order in which they would be asked.' },
    ),
    max_cost_usd: Type.Number({ description: 'What would be held: the highest of these, and storage.' }),
  });

/** `capability`: `video.generate`. */
export function quotedPlan({ chain, heldNanos }: JobPlan, { health }: Vendors, capability: string) {
  return {
    chain: chain.map(({ vendor, model, quoteNanos }) => ({
      vendor,
      model,
      up: health.isUp(vendor, capability),
      price_usd: usd(quoteNanos),
    })),
    max_cost_usd: usd(heldNanos),
  };
}
