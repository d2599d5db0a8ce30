import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { orNull } from '../../../../kit/fields.ts';
import { usd } from '../../../../lib/money.ts';
import { nobody, readExclusions } from '../../../../routing/routing.ts';
import { usdField } from '../../list-fields.ts';
import { linkFields, regionField, requireRoutable, vendorIds } from './schemas.ts';

const CAPABILITY = 'ai.chat';
const reasons = ['no_vendor_configured', 'excluded', 'region'] as const;

export const routingTest = defineCapability()({
  method: 'POST',
  path: '/v1/account/routing/test',
  summary: 'Shows whom an AI call would go to, without making it.',
  description:
    'The chain that `auto` leads to for a text of 1,000 tokens, with prices: the first is asked, the others only when it fails. No vendor is ' +
    'called and nothing is charged.',
  keywords: ['which vendor serves a model', 'dry run ai routing', 'simulate failover'],
  input: Type.Object({
    capability: Type.Optional(
      orNull<string>({ type: 'string', maxLength: 100 }, 'What is routed; ai.chat when null or absent.'),
    ),
  }),
  output: Type.Object({
    capability: Type.String({ description: 'What is routed.' }),
    region: regionField,
    chain: Type.Array(
      Type.Object({
        position: Type.Integer({ minimum: 1, description: 'From 1.' }),
        ...linkFields,
        price_usd: usdField('Of the text, with markup.'),
      }),
      { description: 'Who would be asked, the first one first.' },
    ),
    excluded: vendorIds('Vendors that the account excludes.'),
    reason: orNull<(typeof reasons)[number]>(
      { type: 'string', enum: reasons },
      'Why the chain is empty; null: it is not.',
    ),
  }),
  isLongRead: true,
  examples: [{ title: 'Where a chat would go', input: {}, expect: { capability: CAPABILITY } }],
  async run({ ctx: { core, accountId }, input }) {
    const capability = input.capability ?? CAPABILITY;
    requireRoutable(core, capability);
    const { vendors } = core;
    const excluded = (await readExclusions(core.db, accountId)).get(capability) ?? nobody;
    const { chain, reason } = vendors.sampleChain(capability, excluded);
    const shown = chain.map(({ vendor, model, isUp, nanos }, i) => ({
      position: i + 1,
      vendor,
      model,
      up: isUp,
      price_usd: usd(nanos),
    }));
    return { data: { capability, region: vendors.region, chain: shown, excluded: [...excluded], reason } };
  },
});
