// Filters: an object of fields with the values that they must have, or a list of conditions {field, operator, value}. Both are taken on input; what
// a capability gets is the object.
import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { invalidField } from '../problems/problem.ts';
import { withMark } from './second-names.ts';

const OPERATORS = Symbol('operators of a filter');
const CONDITIONS_MAX = 100;
const MEMBERS: readonly string[] = ['field', 'operator', 'value'];

/** By operator, what the filter's object has for a field. A function without a parameter: the operator takes no value. */
export type FilterOperators = Readonly<Record<string, (value: unknown) => unknown>>;

const equality: FilterOperators = { equals: (value) => value };

/** Ends the description of a filter that is taken as a list too. */
export const listWords = 'Or a list: [{"field": …, "operator": "equals", "value": …}].';

/** The field of a filter's object, taken as a list of conditions too. `operators`: those beside equals. Outside of `Type.Optional`. */
export function alsoListed<Field extends TSchema>(field: Field, operators: FilterOperators = {}): Field {
  return withMark(field, OPERATORS, { ...equality, ...operators });
}

/** Null: no filter that is taken as a list. */
export function filterOperatorsOf(field: object): FilterOperators | null {
  return (field as { readonly [OPERATORS]?: FilterOperators })[OPERATORS] ?? null;
}

/** The object that a list of conditions stands for. `at`: the filter's place in the input. Throws VALIDATION_FAILED. */
export function filterObject(
  conditions: readonly unknown[],
  at: string,
  operators: FilterOperators = equality,
): Record<string, unknown> {
  if (conditions.length > CONDITIONS_MAX)
    throw invalidField(at, 'maxItems', `${at} may have at most ${CONDITIONS_MAX} conditions.`);
  const wanted = new Map<string, unknown>();
  for (const [i, condition] of conditions.entries()) {
    const place = `${at}[${i}]`;
    const [field, value] = readCondition(condition, place, operators);
    wanted.set(field, wanted.has(field) ? both(wanted.get(field), value, `${place}.field`) : value);
  }
  return Object.fromEntries(wanted);
}

function readCondition(sent: unknown, place: string, operators: FilterOperators): readonly [string, unknown] {
  if (!isObject(sent)) throw invalidField(place, 'type', `${place} must be an object of field, operator and value.`);
  const { field, operator = 'equals', value } = sent;
  const unknown = Object.keys(sent).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw invalidField(
      `${place}.${unknown}`.slice(0, 200),
      'unknown_field',
      `A condition has ${MEMBERS.join(', ')}, and nothing else.`,
    );
  if (typeof field !== 'string') throw invalidField(`${place}.field`, 'type', `${place}.field must be a string.`);
  if (field === '__proto__') throw invalidField(`${place}.field`, 'forbidden_key', 'The key __proto__ is not allowed.');
  const write = typeof operator === 'string' && Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  if (write === undefined) {
    const message = `${place}.operator must be one of ${Object.keys(operators).join(', ')}.`;
    throw invalidField(`${place}.operator`, 'enum', message);
  }
  if (write.length > 0 && value === undefined)
    throw invalidField(`${place}.value`, 'required', `${place}.value is required with ${operator}.`);
  return [field, write(value)];
}

/** Two conditions on one field: objects of operators that do not meet, or the same twice. */
function both(first: unknown, second: unknown, param: string): unknown {
  if (isDeepStrictEqual(first, second)) return first;
  if (isObject(first) && isObject(second) && !Object.keys(second).some((name) => Object.hasOwn(first, name)))
    return { ...first, ...second };
  throw invalidField(param, 'two_conditions', `${param} has a condition already that cannot be joined with this one.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
