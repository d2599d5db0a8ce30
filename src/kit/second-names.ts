// Second names of fields: what a field was called before. Inputs may use them; documents and answers have the first name alone.
import type { TSchema } from 'typebox';

const SECOND_NAMES = Symbol('second names');

/** The field, taken under these names too. No two fields of one place may share a name. */
export function alsoNamed<Field extends TSchema>(field: Field, ...names: readonly string[]): Field {
  const named = Object.create(Object.getPrototypeOf(field), Object.getOwnPropertyDescriptors(field));
  // A symbol: neither JSON Schema nor what is written as JSON has it.
  named[SECOND_NAMES] = names;
  return named;
}

export function secondNamesOf(field: object): readonly string[] {
  return (field as { readonly [SECOND_NAMES]?: readonly string[] })[SECOND_NAMES] ?? [];
}
