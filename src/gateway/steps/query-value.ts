// A path or query value read strictly by the type its schema names. What does not fit stays text, and validation names it.
import type { FieldSchema } from '../endpoint.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** `values`: every occurrence of the parameter. */
export function fromQuery(values: readonly string[], schema: FieldSchema): unknown {
  const types = typesOf(schema);
  if (types.has('array')) return values.length === 1 ? (values[0] as string).split(',') : [...values];
  if (values.length > 1) return [...values];
  const [value = ''] = values;
  if ((types.has('number') || types.has('integer')) && NUMBER.test(value)) return Number(value);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function typesOf(schema: FieldSchema): Set<string> {
  const own = schema.type === undefined ? [] : typeof schema.type === 'string' ? [schema.type] : schema.type;
  return new Set([...own, ...(schema.anyOf ?? []).flatMap((branch) => [...typesOf(branch)])]);
}
