// Strict parser of a path or query value by its schema's type. A value that does not fit stays text, and validation reports it.
import { admission } from '../../core/admission.ts';
import type { FieldSchema } from '../../gateway/field-schema.ts';
import { nestingDepth } from '../../lib/json-source.ts';

const DEPTH_MAX = admission.call.depthMax;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const MEMBER = /^([a-z_]+)(?:\[([^[\]]+)\]|\.(.+))$/s;

export interface QueryParameter {
  /** Every occurrence of the parameter. */
  readonly values: string[];
  /** Members of an object that is written as `filter[key]=value` or `filter.key=value`, each with every occurrence. */
  readonly members: Map<string, string[]>;
}

/** The parameters of a query by field: `filter[key]=value` belongs to `filter` where that is an object. */
export function groupQuery(
  query: URLSearchParams,
  fields: Readonly<Record<string, FieldSchema>>,
): Map<string, QueryParameter> {
  const parameters = new Map<string, QueryParameter>();
  for (const [name, value] of query) {
    const [, object = '', inBrackets = '', member = inBrackets] = MEMBER.exec(name) ?? [];
    const isMember = isObject(fields, object);
    const parameter = entry(parameters, isMember ? object : name, () => ({ values: [], members: new Map() }));
    if (isMember) entry(parameter.members, member, () => []).push(value);
    else parameter.values.push(value);
  }
  return parameters;
}

/** The field that a parameter of `groupQuery` was to be a member of but is not, such as `filter[a][b]`; null for every other. */
export function brokenMember(name: string, fields: Readonly<Record<string, FieldSchema>>): string | null {
  const object = name.slice(0, Math.max(name.indexOf('['), 0));
  return isObject(fields, object) ? object : null;
}

function isObject(fields: Readonly<Record<string, FieldSchema>>, name: string): boolean {
  return Object.hasOwn(fields, name) && typesOf(fields[name] as FieldSchema).has('object');
}

/** The value of a parameter by its schema: an object as JSON text or by its members, an array repeated or split at commas. */
export function fromQuery({ values, members }: QueryParameter, schema: FieldSchema): unknown {
  if (members.size > 0 && values.length === 0) return fromMembers(members, schema);
  const types = typesOf(schema);
  if (types.has('array')) return values.length === 1 ? (values[0] as string).split(',') : [...values];
  if (values.length > 1 || members.size > 0) return [...values];
  const [value = ''] = values;
  return fromText(value, types);
}

/** The value of a path parameter by its schema. */
export function fromPath(value: string, schema: FieldSchema): unknown {
  return fromText(value, typesOf(schema));
}

function fromText(value: string, types: ReadonlySet<string>): unknown {
  if ((types.has('number') || types.has('integer')) && NUMBER.test(value)) return Number(value);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return types.has('object') ? fromJson(value) : value;
}

function fromMembers(members: QueryParameter['members'], { properties = {} }: FieldSchema): unknown {
  const none = new Map<string, string[]>();
  const pairs = [...members].map(([name, values]): [string, unknown] => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, fromQuery({ values, members: none }, schema ?? {})];
  });
  return Object.fromEntries(pairs);
}

function fromJson(text: string): unknown {
  if (nestingDepth(text) > DEPTH_MAX) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function entry<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const found = map.get(name);
  if (found !== undefined) return found;
  const made = make();
  map.set(name, made);
  return made;
}

function typesOf(schema: FieldSchema): Set<string> {
  const own = schema.type === undefined ? [] : typeof schema.type === 'string' ? [schema.type] : schema.type;
  return new Set([...own, ...(schema.anyOf ?? []).flatMap((branch) => [...typesOf(branch)])]);
}
