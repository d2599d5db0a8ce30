// Fields that the wallet, usage, ledger and event capabilities share.
import Type, { type TSchema } from 'typebox';

export const cursorField = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'next_cursor of the page before, with the same filters. Absent: the first page.',
});

export const limitField = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: 20,
  description: 'Entries a page, 1 to 100.',
});

/** A bound of a period. */
export const boundField = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    description: `${description} A date and time with an offset, such as 2026-11-01T12:00:00Z.`,
  });

export const capabilityFilter = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Only this capability id, such as queue.publish.',
});
export const keyFilter = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Only this API key, by its id `key_…`.',
});

export const usdField = (description: string) =>
  Type.Number({ description: `${description} USD, exact to 0.000000001.` });
export const usdOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description });
export const instantField = (description: string) => Type.String({ format: 'date-time', description });
export const textOrNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export function pageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: textOrNull('Send it as cursor to get the next page; null on the last one.'),
    has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
  });
}
