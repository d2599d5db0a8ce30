// Second names of fields and values: what they were called before. Inputs may use them; documents and answers have the first name alone.
import type { TSchema } from 'typebox';

const SECOND_NAMES = Symbol('second names');
const SECOND_VALUES = Symbol('second values');

/** What a value under a second name is under the first; a value of a wrong type stays as it is, for the schema to refuse. */
export type Conversion = (value: unknown) => unknown;

const asItIs: Conversion = (value) => value;

/** Of a second name that had milliseconds. */
export const secondsOfMs: Conversion = (ms) => (typeof ms === 'number' ? ms / 1_000 : ms);

/**
 * The field, taken under these names too: as it is, or converted where a name comes with how. No two fields of one place may share a name.
 */
export function alsoNamed<Field extends TSchema>(
  field: Field,
  ...names: readonly (string | Readonly<Record<string, Conversion>>)[]
): Field {
  const conversions = names.flatMap((name) => (typeof name === 'string' ? [[name, asItIs]] : Object.entries(name)));
  return withMark(field, SECOND_NAMES, conversions);
}

/** Each with how its values are converted. */
export function secondNamesOf(field: object): readonly (readonly [name: string, Conversion])[] {
  return (field as { readonly [SECOND_NAMES]?: ReturnType<typeof secondNamesOf> })[SECOND_NAMES] ?? [];
}

/** The field, whose values are taken under other names too: first names by second ones. */
export function alsoWritten<Field extends TSchema>(field: Field, values: Readonly<Record<string, string>>): Field {
  return withMark(field, SECOND_VALUES, new Map(Object.entries(values)));
}

/** Null: none. */
export function secondValuesOf(field: object): ReadonlyMap<unknown, string> | null {
  return (field as { readonly [SECOND_VALUES]?: ReadonlyMap<unknown, string> })[SECOND_VALUES] ?? null;
}

/** A copy with the mark. A hidden symbol: neither JSON Schema, nor what is written as JSON, nor a comparison has it. */
export function withMark<Field extends TSchema>(field: Field, mark: symbol, value: unknown): Field {
  const copy = Object.create(Object.getPrototypeOf(field), Object.getOwnPropertyDescriptors(field));
  return Object.defineProperty(copy, mark, { value });
}
