// Second names of fields: what a field was called before. Inputs may use them; documents and answers have the first name alone.
import type { TSchema } from 'typebox';

const SECOND_NAMES = Symbol('second names');

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
  const named = Object.create(Object.getPrototypeOf(field), Object.getOwnPropertyDescriptors(field));
  // A symbol: neither JSON Schema nor what is written as JSON has it.
  named[SECOND_NAMES] = names.flatMap((name) => (typeof name === 'string' ? [[name, asItIs]] : Object.entries(name)));
  return named;
}

/** Each with how its values are converted. */
export function secondNamesOf(field: object): readonly (readonly [name: string, Conversion])[] {
  return (field as { readonly [SECOND_NAMES]?: ReturnType<typeof secondNamesOf> })[SECOND_NAMES] ?? [];
}
