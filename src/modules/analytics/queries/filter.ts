// What questions filter by: all conditions must hold. Values are compared as texts, a number by its JSON, so 10 and "10" are one value; more and less
// compare numbers only. Of a dictionary each value is looked at once.
import Type, { type Static } from 'typebox';
import type { Dictionary } from '../../../core/blocks/columns.ts';
import { plainOf, typedText } from '../events/property-columns.ts';
import type { StoredEvents } from '../events/stored-events.ts';
import { FILTERS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';

const operators = [
  'is',
  'is_not',
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
const VALUE_CHARACTERS_MAX = 1_000;

type Scalar = string | number | boolean;

const conditionSchema = Type.Object({
  property: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: 'Name of a property of events.' }),
  operator: Type.Optional(
    Type.Enum([...operators], {
      description:
        'is when absent. is and is_not take a list of values; contains ignores case; is_set and is_not_set take none.',
    }),
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

/** Throws INVALID_REQUEST for a condition without the value that it needs. */
export function checkFilter(filter: Filter, param: string): void {
  for (const [i, { operator = 'is', value }] of filter.entries()) {
    if (operator === 'is_set' || operator === 'is_not_set') continue;
    const isNumeric = operator.startsWith('g') || operator.startsWith('l');
    const isFine = isNumeric ? typeof value === 'number' : value !== undefined;
    if (isFine) continue;
    const where = `${param}[${i}].value`;
    throw problem('INVALID_REQUEST', {
      param: where,
      message: `${where} is required${isNumeric ? ', as a number' : ''}.`,
    });
  }
}

/** Which events all conditions hold of, as 1; null: of all. */
export function matching(events: StoredEvents, filter: Filter): Uint8Array | null {
  let found: Uint8Array | null = null;
  for (const condition of filter) {
    const { values, ids } = events.property(condition.property);
    const holds = values.map((typed) => Number(holdsOf(typed, condition)));
    found ??= new Uint8Array(events.records).fill(1);
    for (let i = 0; i < found.length; i += 1) found[i] = (found[i] as number) & (holds[ids[i] as number] as number);
  }
  return found;
}

function holdsOf(typed: string | null, { operator = 'is', value }: Filter[number]): boolean {
  if (operator === 'is_set') return typed !== null;
  if (operator === 'is_not_set') return typed === null;
  const isNegated = operator === 'is_not' || operator === 'not_contains';
  if (typed === null) return isNegated;
  const wanted = Array.isArray(value) ? (value as readonly Scalar[]) : [value as Scalar];
  if (operator === 'is' || operator === 'is_not') {
    const plain = plainOf(typed);
    return wanted.some((each) => plainOf(typedText(each)) === plain) !== isNegated;
  }
  if (operator === 'contains' || operator === 'not_contains') {
    const plain = plainOf(typed).toLowerCase();
    return wanted.some((each) => plain.includes(plainOf(typedText(each)).toLowerCase())) !== isNegated;
  }
  return compare(numberOf(typed), operator, wanted[0] as number);
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
