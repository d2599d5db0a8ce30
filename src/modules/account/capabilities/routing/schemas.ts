// Schema of routing: the vendors that `auto` leads to for a text of 1,000 tokens, in order.
import Type from 'typebox';
import type { Services } from '../../../../kit/services.ts';
import { invalidField } from '../../../../problems/problem.ts';

export const vendorIds = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems: 100, description });

export const linkFields = {
  vendor: Type.String({ description: 'Id of the vendor.' }),
  model: Type.String({ description: "The vendor's name of the model." }),
  up: Type.Boolean({ description: 'Whether it answers at present.' }),
};

export const regionField = Type.Enum(['western', 'china'], { description: 'Where this service asks vendors.' });

export const routingSchema = Type.Object(
  {
    capability: Type.String({ description: 'What is routed.' }),
    region: regionField,
    chain: Type.Array(Type.Object(linkFields), {
      description: 'Whom `auto` leads to for a text of 1,000 tokens, the first one first.',
    }),
    exclude: vendorIds('Vendors that calls of the account never go to.'),
  },
  { title: 'Routing' },
);

export function routingRecord({ vendors }: Services, capability: string, excluded: ReadonlySet<string>) {
  const { chain } = vendors.sampleChain(capability, excluded);
  const shown = chain.map(({ vendor, model, isUp }) => ({ vendor, model, up: isUp }));
  return { capability, region: vendors.region, chain: shown, exclude: [...excluded] };
}

/** Throws VALIDATION_FAILED, `not_routable`. */
export function requireRoutable({ vendors: { routable } }: Services, capability: string): void {
  if (routable.includes(capability)) return;
  throw invalidField('capability', 'not_routable', `Routing is set for ${routable.join(' and ')} only.`);
}
