// Fields that calls of models have in common.
import Type from 'typebox';

export const modelField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 300,
    description:
      '`auto` (also when null or absent), `cheapest`, `smartest`, `vendor/model`, or a model that any vendor has.',
  }),
);

export const routingFields = {
  vendor: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Asks this vendor and no other.' }),
  ),
  cross_region: Type.Optional(Type.Boolean({ description: 'Whether a vendor of the other region may be asked too.' })),
};
