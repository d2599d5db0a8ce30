// A path or query value read strictly by the type its schema names. What does not fit stays text, and validation names it.
import type { FieldSchema } from '../endpoint.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const MEMBER = /^([a-z_]+)\[([^[\]]+)\]$/;
const MEMBER_VALUES = Symbol('members');

/** Every occurrence of a parameter; for an object written as `filter[key]=value`, its members. */
export type QueryValues = readonly string[] & { readonly [MEMBER_VALUES]?: ReadonlyMap<string, readonly string[]> };

/** The parameters of a query by field: `filter[key]=value` belongs to `filter` where that is an object. */
export function groupQuery(query: URLSearchParams, fields: Readonly<Record<string, FieldSchema>>): Map<string, QueryValues> {
  const groups = new Map<string, QueryValues>();
  for (const name of new Set(query.keys())) {
    const [, field = name, member] = MEMBER.exec(name) ?? [];
    const values = query.getAll(name);
    if (member === undefined || !Object.hasOwn(fields, field) || !typesOf(fields[field] as FieldSchema).has('object')) {
      groups.set(name, Object.assign([...values, ...(groups.get(name) ?? [])], membersOf(groups.get(name))));
      continue;
    }
    const group = groups.get(field) ?? [];
    const members = new Map([...(group[MEMBER_VALUES] ?? []), [member, values]]);
    groups.set(field, Object.assign([...group], { [MEMBER_VALUES]: members }));
  }
  return groups;
}
