// A filter as SQL over jsonb metadata: one fixed expression, with the conditions as parameters. For what deletes by filter, and for
// engines that are the database.
import { textArray } from '../../db/arrays.ts';
import type { Condition, Filter } from './engine/port.ts';

// Order compares numbers with numbers and texts with texts by code point; each element of an array counts.
const ordered = `EXISTS (
  SELECT FROM jsonb_array_elements(CASE jsonb_typeof(m.data -> f.key) WHEN 'array' THEN m.data -> f.key ELSE jsonb_build_array(m.data -> f.key) END) e(value)
   WHERE jsonb_typeof(e.value) = jsonb_typeof(f.value)
     AND CASE jsonb_typeof(f.value)
         WHEN 'number' THEN CASE f.op WHEN 'gt' THEN e.value::numeric > f.value::numeric WHEN 'gte' THEN e.value::numeric >= f.value::numeric
                                      WHEN 'lt' THEN e.value::numeric < f.value::numeric ELSE e.value::numeric <= f.value::numeric END
         WHEN 'string' THEN CASE f.op WHEN 'gt' THEN (e.value #>> '{}') COLLATE "C" > (f.value #>> '{}') COLLATE "C"
                                      WHEN 'gte' THEN (e.value #>> '{}') COLLATE "C" >= (f.value #>> '{}') COLLATE "C"
                                      WHEN 'lt' THEN (e.value #>> '{}') COLLATE "C" < (f.value #>> '{}') COLLATE "C"
                                      ELSE (e.value #>> '{}') COLLATE "C" <= (f.value #>> '{}') COLLATE "C" END
         ELSE false END)`;

/**
 * Whether the metadata `i.metadata` passes; parameters $1, $2 and $3 are those of `filterParameters`. `@>` is equality of scalars,
 * and of a scalar with an element of an array; numbers are equal by value.
 */
export const passesFilter = `NOT EXISTS (
  SELECT FROM unnest($1::text[], $2::text[], $3::text[]) s(op, key, value),
              LATERAL (SELECT s.op, s.key, s.value::jsonb AS value OFFSET 0) f,
              LATERAL (SELECT coalesce(i.metadata, '{}') AS data) m
   WHERE NOT CASE f.op
             WHEN 'eq' THEN coalesce((m.data -> f.key) @> f.value, false)
             WHEN 'ne' THEN NOT coalesce((m.data -> f.key) @> f.value, false)
             WHEN 'in' THEN EXISTS (SELECT FROM jsonb_array_elements(f.value) v(value) WHERE (m.data -> f.key) @> v.value)
             WHEN 'exists' THEN (m.data ? f.key) = f.value::boolean
             ELSE ${ordered} END)`;

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
