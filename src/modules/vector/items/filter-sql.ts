// A filter as SQL over jsonb metadata: one fixed expression, with the conditions as parameters. For what deletes by filter, and for
// engines that are the database.
import { textArray } from '../../../db/arrays.ts';
import type { Condition, Filter } from '../engine/port.ts';

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
