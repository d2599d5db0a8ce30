// Parses sent filters into typed conditions on top-level metadata keys, all of which must hold (contract of vector); and their SQL form.

import { textArray } from '../../../db/arrays.ts';
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
    throw unsupportedFilter(at, `${key} is not an operator on the whole filter; keys are combined by AND.`);
  if (!isStorable(key)) throw invalidField(at, 'characters', 'A key holds NUL or half of a surrogate pair.');
  if (value === null || typeof value !== 'object') return [{ key, op: 'eq', value: scalar(value, at) }];
  const tests = Array.isArray(value) ? [] : Object.entries(value);
  if (tests.length === 0) {
    throw unsupportedFilter(at, `${at} must be a text, a number, a boolean, null, or an object of operators.`);
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
      return { key, op: operator.slice(1) as 'gt' | 'gte' | 'lt' | 'lte', value: orderOperand(operand, at) };
    case '$exists':
      if (typeof operand !== 'boolean') throw invalidField(at, 'type', `${at} must be true or false.`);
      return { key, op: 'exists', value: operand };
    default:
      throw unsupportedFilter(at, `${operator} is not one of $in, $ne, $gt, $gte, $lt, $lte, $exists.`);
  }
}

function scalars(operand: unknown, at: string): Scalar[] {
  if (!Array.isArray(operand)) throw invalidField(at, 'type', `${at} must be an array.`);
  if (operand.length === 0 || operand.length > FILTER_VALUES_MAX)
    throw invalidField(at, 'length', `${at} must have 1 to ${FILTER_VALUES_MAX} values.`);
  return operand.map((value, i) => scalar(value, `${at}[${i}]`));
}

function orderOperand(operand: unknown, at: string): number | string {
  const value = scalar(operand, at);
  if (typeof value === 'number' || typeof value === 'string') return value;
  throw invalidField(at, 'type', `${at} must be a number or a text.`);
}

function scalar(value: unknown, at: string): Scalar {
  if (value !== null && typeof value === 'object') throw unsupportedFilter(at, `${at} must be a single value.`);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalidField(at, 'number_range', `${at} is larger than a double can hold.`);
  if (typeof value === 'string' && !isStorable(value))
    throw invalidField(at, 'characters', `${at} holds NUL or half of a surrogate pair.`);
  return value as Scalar;
}

function unsupportedFilter(param: string, message: string) {
  return problem('UNSUPPORTED_FILTER', { param: param.slice(0, 200), message });
}

// A filter as SQL over jsonb metadata: one fixed expression, with the conditions as parameters. For what deletes by filter, and for
// engines that are the database.

// Each element of an array counts.
const elements = `jsonb_array_elements(CASE WHEN jsonb_typeof(m.value) = 'array' THEN m.value ELSE jsonb_build_array(m.value) END) e(value)`;

// The operands of all $in are hashed once a statement: with 1,000 of them a row took 330 µs when it was compared with each, and
// takes 3. IS TRUE keeps the planner from making a join of it, which would be run for each row.
const isIn = `m.value IS NOT NULL AND EXISTS (
  SELECT FROM ${elements}
   WHERE ((f.n, e.value) IN (
           SELECT c.n, v.value
             FROM unnest($1::text[], $3::text[]::jsonb[]) WITH ORDINALITY c(op, value, n),
                  jsonb_array_elements(CASE WHEN c.op = 'in' THEN c.value ELSE '[]' END) v(value))) IS TRUE)`;

// Order compares numbers with numbers and texts with texts by code point.
const isOrdered = `EXISTS (
  SELECT FROM ${elements}
   WHERE jsonb_typeof(e.value) = jsonb_typeof(f.value)
     AND CASE
         WHEN jsonb_typeof(f.value) = 'number' THEN CASE WHEN f.op = 'gt' THEN e.value::numeric > f.value::numeric WHEN f.op = 'gte' THEN e.value::numeric >= f.value::numeric
                                      WHEN f.op = 'lt' THEN e.value::numeric < f.value::numeric ELSE e.value::numeric <= f.value::numeric END
         WHEN jsonb_typeof(f.value) = 'string' THEN CASE WHEN f.op = 'gt' THEN (e.value #>> '{}') COLLATE "C" > (f.value #>> '{}') COLLATE "C"
                                      WHEN f.op = 'gte' THEN (e.value #>> '{}') COLLATE "C" >= (f.value #>> '{}') COLLATE "C"
                                      WHEN f.op = 'lt' THEN (e.value #>> '{}') COLLATE "C" < (f.value #>> '{}') COLLATE "C"
                                      ELSE (e.value #>> '{}') COLLATE "C" <= (f.value #>> '{}') COLLATE "C" END
         ELSE false END)`;

/**
 * Whether the metadata `i.metadata` passes; parameters $1, $2 and $3 are those of `filterParameters`. `@>` is equality of scalars,
 * and of a scalar with an element of an array; numbers are equal by value.
 */
export const passesFilter = `NOT EXISTS (
  SELECT FROM unnest($1::text[], $2::text[], $3::text[]::jsonb[]) WITH ORDINALITY f(op, key, value, n),
              LATERAL (SELECT i.metadata -> f.key AS value OFFSET 0) m
   WHERE NOT CASE
             WHEN f.op = 'eq' THEN coalesce(m.value @> f.value, false)
             WHEN f.op = 'ne' THEN NOT coalesce(m.value @> f.value, false)
             WHEN f.op = 'in' THEN ${isIn}
             WHEN f.op = 'exists' THEN (m.value IS NOT NULL) = f.value::boolean
             ELSE ${isOrdered} END)`;

/** Operators, keys and operands, in parallel. */
export function filterParameters(filter: Filter): [Buffer, Buffer, Buffer] {
  return [
    textArray(filter.map(({ op }) => op)),
    textArray(filter.map(({ key }) => key)),
    textArray(filter.map((condition) => JSON.stringify(operandOf(condition)))),
  ];
}

function operandOf(condition: Condition): unknown {
  return condition.op === 'in' ? condition.values : condition.value;
}
