// The part of JSON Schema (2020-12) that the surfaces read from a capability's schemas.
import type { TSchema } from 'typebox';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly [keyword: string]: unknown;
}

/** A TypeBox schema is a JSON Schema document; this only changes the type under which it is read. */
export function asJsonSchema(schema: TSchema): JsonSchema {
  return schema as JsonSchema;
}

/** The alternatives of a schema that has them, else the schema itself. */
export function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf ?? schema.oneOf ?? [schema];
}

export interface FieldAt {
  /** `messages[].payload` */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Every named field of an object schema in reading order, nested ones after the field that holds them. */
export function fieldsWithin(schema: JsonSchema, prefix = ''): FieldAt[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [{ path, schema: field, required: schema.required?.includes(name) ?? false }, ...fieldsWithin(field, path)];
  });
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const nested = branches.flatMap((branch) => fieldsWithin(branch, prefix));
  const items = schema.items === undefined ? [] : fieldsWithin(schema.items, `${prefix}[]`);
  return [...own, ...nested, ...items];
}
