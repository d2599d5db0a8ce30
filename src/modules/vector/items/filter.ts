// Filters as they are sent to conditions: top-level keys of the metadata, typed, all of which must hold (contract §8).
import { invalidField, problem } from '../../../problems/problem.ts';
import type { Condition, Filter, Scalar } from '../engine/port.ts';
import { FILTER_VALUES_MAX } from '../limits.ts';
import { isStorable } from './metadata.ts';

/** The conditions of a filter, null when it has none. Throws UNSUPPORTED_FILTER and VALIDATION_FAILED that name the key. */
export function parseFilter(sent: Readonly<Record<string, unknown>> | undefined, at: string): Filter | null {
  const conditions = Object.entries(sent ?? {}).flatMap(([key, value]) => conditionsOf(key, value, `${at}.${key}`));
  return conditions.length === 0 ? null : conditions;
}

function conditionsOf(key: string, value: unknown, at: string): Condition[] {
  if (key.startsWith('$'))
    throw unsupported(at, `${key} is not an operator on the whole filter; keys are combined by AND.`);
  if (!isStorable(key)) throw invalidField(at, 'characters', 'A key holds NUL or half of a surrogate pair.');
  if (value === null || typeof value !== 'object') return [{ key, op: 'eq', value: scalar(value, at) }];
  const tests = Array.isArray(value) ? [] : Object.entries(value);
  if (tests.length === 0) {
    throw unsupported(at, `${at} must be a text, a number, a boolean, null, or an object of operators.`);
  }
  return tests.map(([operator, operand]) => condition(key, operator, operand, `${at}.${operator}`));
}

function condition(key: string, operator: string, operand: unknown, at: string): Condition {
  switch (operator) {
    case '$in':
      return { key, op: 'in', values: scalars(operand, at) };
    case '$ne':
      return { key, op: 'ne', value: scalar(operand, at) };
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return { key, op: operator.slice(1) as 'gt' | 'gte' | 'lt' | 'lte', value: ordered(operand, at) };
    case '$exists':
      if (typeof operand !== 'boolean') throw invalidField(at, 'type', `${at} must be true or false.`);
      return { key, op: 'exists', value: operand };
    default:
      throw unsupported(at, `${operator} is not one of $in, $ne, $gt, $gte, $lt, $lte, $exists.`);
  }
}

function scalars(operand: unknown, at: string): Scalar[] {
  if (!Array.isArray(operand)) throw invalidField(at, 'type', `${at} must be an array.`);
  if (operand.length === 0 || operand.length > FILTER_VALUES_MAX)
    throw invalidField(at, 'length', `${at} must have 1 to ${FILTER_VALUES_MAX} values.`);
  return operand.map((value, i) => scalar(value, `${at}[${i}]`));
}

function ordered(operand: unknown, at: string): number | string {
  const value = scalar(operand, at);
  if (typeof value === 'number' || typeof value === 'string') return value;
  throw invalidField(at, 'type', `${at} must be a number or a text.`);
}

function scalar(value: unknown, at: string): Scalar {
  if (value !== null && typeof value === 'object') throw unsupported(at, `${at} must be a single value.`);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalidField(at, 'number_range', `${at} is larger than a double can hold.`);
  if (typeof value === 'string' && !isStorable(value))
    throw invalidField(at, 'characters', `${at} holds NUL or half of a surrogate pair.`);
  return value as Scalar;
}

function unsupported(param: string, message: string) {
  return problem('UNSUPPORTED_FILTER', { param: param.slice(0, 200), message });
}
