// Filter conditions of queries: all must hold. Values are compared as texts, a number by its JSON, so 10 and "10" are one value; more and less
// compare numbers only. Each value of a dictionary is tested once.
import Type, { type Static } from 'typebox';
import type { Dictionary } from '../../../blocks/columns.ts';
import { alsoNamed, alsoWritten } from '../../../kit/second-names.ts';
import { plainOf, typedText } from '../events/property-columns.ts';
import type { StoredEvents } from '../events/stored-events.ts';
import { FILTERS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';

const operators = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
] as const;
const VALUES_MAX = 100;
/** Of contains: each is looked for in each value. */
const PARTS_MAX = 10;
const VALUE_CHARACTERS_MAX = 1_000;

type Scalar = string | number | boolean;

const conditionSchema = Type.Object({
  field: alsoNamed(
    Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: 'Name of a property of events.' }),
    'property',
  ),
  operator: alsoWritten(
    Type.Optional(
      Type.Enum([...operators], {
        description:
          'equals when absent. equals and not_equals take a value or a list, contains a value or up to 10 and ignores case; is_set and is_not_set take none.',
      }),
    ),
    { is: 'equals', is_not: 'not_equals' },
  ),
  value: Type.Optional(
    Type.Unsafe<Scalar | readonly Scalar[]>({
      type: ['string', 'number', 'boolean', 'array'],
      maxLength: VALUE_CHARACTERS_MAX,
      maxItems: VALUES_MAX,
      items: { type: ['string', 'number', 'boolean'], maxLength: VALUE_CHARACTERS_MAX },
      description: 'What it is compared with.',
    }),
  ),
});

export const filterSchema = Type.Optional(
  Type.Array(conditionSchema, { maxItems: FILTERS_MAX, description: 'Conditions on properties, which must all hold.' }),
);
export type Filter = readonly Static<typeof conditionSchema>[];

/** Throws INVALID_REQUEST for a condition that has not the value that it needs. */
export function checkFilter(filter: Filter, param: string): void {
  for (const [i, { operator = 'equals', value }] of filter.entries()) {
    const needed = neededBy(operator);
    if (needed.fits(value)) continue;
    const where = `${param}[${i}].value`;
    throw problem('INVALID_REQUEST', { param: where, message: `${where} must be ${needed.text} with ${operator}.` });
  }
}

type Operator = (typeof operators)[number];

function neededBy(operator: Operator): { readonly text: string; fits(value: Filter[number]['value']): boolean } {
  switch (operator) {
    case 'is_set':
    case 'is_not_set':
      return { text: 'absent', fits: () => true };
    case 'equals':
    case 'not_equals':
      return { text: 'a value or a list of values', fits: (value) => value !== undefined };
    case 'contains':
    case 'not_contains':
      return {
        text: `a value or a list of at most ${PARTS_MAX}`,
        fits: (value) => value !== undefined && isShortList(value),
      };
    default:
      return { text: 'a number', fits: (value) => typeof value === 'number' };
  }
}

const isShortList = (value: NonNullable<Filter[number]['value']>) => !Array.isArray(value) || value.length <= PARTS_MAX;

/** Which events all conditions hold of, as 1; null: of all. */
export function matching(events: StoredEvents, filter: Filter): Uint8Array | null {
  let found: Uint8Array | null = null;
  for (const condition of filter) {
    const { values, ids } = events.property(condition.field);
    const test = testOf(condition);
    const holds = values.map((typed) => Number(test(typed)));
    found ??= new Uint8Array(events.records).fill(1);
    for (let i = 0; i < found.length; i += 1) found[i] = (found[i] as number) & (holds[ids[i] as number] as number);
  }
  return found;
}

/** Whether the condition holds of a typed value; null: the event has none. */
function testOf({ operator = 'equals', value }: Filter[number]): (typed: string | null) => boolean {
  if (operator === 'is_set') return (typed) => typed !== null;
  if (operator === 'is_not_set') return (typed) => typed === null;
  const values = (Array.isArray(value) ? value : [value]) as readonly Scalar[];
  const plain = values.map((each) => plainOf(typedText(each)));
  if (operator === 'equals' || operator === 'not_equals') {
    const wanted = new Set(plain);
    const isNegated = operator === 'not_equals';
    return (typed) => (typed !== null && wanted.has(plainOf(typed))) !== isNegated;
  }
  if (operator === 'contains' || operator === 'not_contains') {
    const parts = plain.map((each) => each.toLowerCase());
    const isNegated = operator === 'not_contains';
    return (typed) => {
      const text = typed === null ? null : plainOf(typed).toLowerCase();
      return (text !== null && parts.some((part) => text.includes(part))) !== isNegated;
    };
  }
  return (typed) => compare(numberOf(typed), operator, values[0] as number);
}

function compare(number: number, operator: string, wanted: number): boolean {
  if (operator === 'gt') return number > wanted;
  if (operator === 'gte') return number >= wanted;
  return operator === 'lt' ? number < wanted : number <= wanted;
}

/** The number that a typed value is; NaN: it is none. */
export function numberOf(typed: string | null): number {
  if (typed === null) return Number.NaN;
  const first = typed.charCodeAt(0);
  return first === 45 || (first >= 48 && first <= 57) ? Number(typed) : Number.NaN;
}

/** The numbers of a column's values. */
export function numbersOfValues({ values }: Dictionary): Float64Array {
  return Float64Array.from(values, numberOf);
}
