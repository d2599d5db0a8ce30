import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import type { Services } from '../../../../kit/services.ts';
import { nearest } from '../../../../lib/nearest.ts';
import { setExclusions } from '../../../../routing/routing.ts';
import { problem } from '../../problems.ts';
import { requireRoutable, routingRecord, routingSchema, vendorIds } from './schemas.ts';

export const routingSet = defineCapability()({
  method: 'PUT',
  path: '/v1/account/routing/set',
  summary: 'Excludes vendors from the AI calls of the account.',
  description:
    'Replaces the vendors that calls of one capability never go to: not by `auto`, not when another one fails, not by name either (400 ' +
    'VENDOR_NOT_AVAILABLE). In force everywhere within a second. At least one vendor must be left.',
  keywords: ['exclude ai vendor', 'block provider', 'data residency of models', 'provider preferences'],
  input: Type.Object({
    capability: Type.String({
      maxLength: 100,
      description: 'A capability that account.routing.get shows, such as ai.chat.',
    }),
    exclude: Type.Optional(vendorIds('Ids of vendors; empty or absent: none is excluded any more.')),
  }),
  output: routingSchema,
  errors: ['VENDOR_NOT_AVAILABLE', 'ROUTING_EMPTY'],
  examples: [
    {
      title: 'Every vendor may be asked',
      input: { capability: 'ai.chat', exclude: [] },
      expect: { capability: 'ai.chat', exclude: [] },
    },
  ],
  async run({ ctx, input: { capability, exclude = [] } }) {
    const { core, accountId } = ctx;
    const excluded = new Set(exclude);
    const done = await runWrite(ctx, async (tx) => {
      requireExcludable(core, capability, excluded);
      await setExclusions(tx, accountId, capability, [...excluded]);
      return routingRecord(core, capability, excluded);
    });
    core.vendors.routing.forget(accountId);
    return done;
  },
});

/** Throws VALIDATION_FAILED, VENDOR_NOT_AVAILABLE and ROUTING_EMPTY. */
function requireExcludable(core: Services, capability: string, excluded: ReadonlySet<string>): void {
  requireRoutable(core, capability);
  const known = core.vendors.all.map(({ id }) => id);
  const unknown = [...excluded].find((id) => !known.includes(id));
  if (unknown !== undefined) {
    const [near] = nearest(unknown, known, 1);
    const hint = near === undefined ? `There are ${known.join(', ')}.` : `Did you mean ${near}?`;
    throw problem('VENDOR_NOT_AVAILABLE', {
      param: 'exclude',
      message: `No vendor has the id ${JSON.stringify(unknown)}. ${hint}`,
    });
  }
  if (excluded.size > 0 && core.vendors.excludesAllVendors(capability, excluded))
    throw problem('ROUTING_EMPTY', { param: 'exclude', message: `Nobody would be left for ${capability}.` });
}
