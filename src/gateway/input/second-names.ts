// Gives an input its first forms, wherever they stand: fields and values that came under a second name get their first one, and a filter that came
// as a list of conditions becomes its object.
import { isDeepStrictEqual } from 'node:util';
import { type FilterOperators, filterObject, filterOperatorsOf } from '../../kit/filter.ts';
import { type Conversion, secondNamesOf, secondValuesOf } from '../../kit/second-names.ts';
import { onceFor } from '../../lib/once.ts';
import { invalidField } from '../../problems/problem.ts';
import type { FieldSchema } from '../field-schema.ts';

export interface SecondNames {
  /** First names by second ones. */
  readonly first: ReadonlyMap<string, string>;
  /** Of values, by the second names. */
  readonly conversions: ReadonlyMap<string, Conversion>;
  /** By field, first values by second ones. */
  readonly values: ReadonlyMap<string, ReadonlyMap<unknown, string>>;
  /** Filters that are taken as lists. */
  readonly filters: ReadonlyMap<string, FilterOperators>;
  /** Of what a field holds, or its items. */
  readonly within: ReadonlyMap<string, SecondNames>;
}

/** Those that an object's schema knows. */
export const readSecondNames = onceFor((schema: FieldSchema): SecondNames => {
  const first = new Map<string, string>();
  const conversions = new Map<string, Conversion>();
  const values = new Map<string, ReadonlyMap<unknown, string>>();
  const filters = new Map<string, FilterOperators>();
  const within = new Map<string, SecondNames>();
  for (const { properties = {} } of [schema, ...(schema.anyOf ?? [])]) {
    for (const [name, field] of Object.entries(properties)) {
      for (const [second, conversion] of secondNamesOf(field)) {
        first.set(second, name);
        conversions.set(second, conversion);
      }
      const [written, operators] = [secondValuesOf(field), filterOperatorsOf(field)];
      if (written !== null) values.set(name, written);
      if (operators !== null) filters.set(name, operators);
      const inner = readSecondNames(field.items ?? field);
      if (Object.values(inner).some(({ size }) => size > 0)) within.set(name, inner);
    }
  }
  return { first, conversions, values, filters, within };
});

/** The second names of all fields that have one of these names, wherever they stand. */
export function secondNamesFor(firsts: readonly string[], { first, within }: SecondNames): string[] {
  const here = [...first].filter(([, name]) => firsts.includes(name)).map(([second]) => second);
  const inner = [...within.values()].flatMap((each) => secondNamesFor(firsts, each));
  return [...new Set([...here, ...inner])];
}

/** Renames in place. Throws VALIDATION_FAILED where both names are there and differ, and for a list that is no filter. */
export function takeSecondNames(
  input: Record<string, unknown>,
  { first, conversions, values, filters, within }: SecondNames,
  at = '',
): void {
  for (const [second, name] of first) {
    if (!Object.hasOwn(input, second)) continue;
    const value = conversions.get(second)?.(input[second]);
    if (Object.hasOwn(input, name) && !isDeepStrictEqual(input[name], value)) {
      throw invalidField(`${at}${second}`, 'two_names', `${at}${second} is ${at}${name} by another name: send one.`);
    }
    delete input[second];
    input[name] = value;
  }
  for (const [name, written] of values) {
    const value = Object.hasOwn(input, name) ? written.get(input[name]) : undefined;
    if (value !== undefined) input[name] = value;
  }
  for (const [name, operators] of filters) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (Array.isArray(value)) input[name] = filterObject(value, `${at}${name}`, operators);
  }
  for (const [name, inner] of within) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) if (isObject(item)) takeSecondNames(item, inner, `${at}${name}[${i}].`);
    } else if (isObject(value)) takeSecondNames(value, inner, `${at}${name}.`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}
