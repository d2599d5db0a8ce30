// Schemas of the OpenAPI document. A titled object schema (`title: 'QueueRecord'`) becomes a component that others refer to.
import type { JsonSchema } from '../../../manifest/json-schema.ts';

export class SchemaShelf {
  readonly #schemas: Map<string, JsonSchema>;
  /** References to schemas that were placed before: several operations share an object. */
  readonly #placed = new Map<JsonSchema, JsonSchema>();

  constructor(shared: Readonly<Record<string, JsonSchema>>) {
    this.#schemas = new Map(Object.entries(shared));
  }

  schemas(): Record<string, JsonSchema> {
    return Object.fromEntries(this.#schemas);
  }

  /** The schema as it is written into the document: a reference where it, or a part of it, has a title of its own. */
  place(schema: JsonSchema): JsonSchema {
    const earlier = this.#placed.get(schema);
    if (earlier !== undefined) return earlier;
    const placed = explicitSchema(this.#placeWithin(schema) as JsonSchema);
    const { title } = schema;
    if (title === undefined || !/^[A-Z][A-Za-z0-9]*$/.test(title)) return placed;
    const known = this.#schemas.get(title);
    if (known === undefined) this.#schemas.set(title, placed);
    else if (JSON.stringify(known) !== JSON.stringify(placed)) return placed;
    const reference = { $ref: `#/components/schemas/${title}` };
    this.#placed.set(schema, reference);
    return reference;
  }

  /** Copies a schema and places the schemas within it; examples, defaults and allowed values are copied as they are. */
  #placeWithin(value: unknown, keyword?: string): unknown {
    if (
      value === null ||
      typeof value !== 'object' ||
      keyword === 'examples' ||
      keyword === 'default' ||
      keyword === 'enum' ||
      keyword === 'const'
    )
      return value;
    if (Array.isArray(value)) return value.map((item) => this.#placeItem(item));
    const isMap = keyword === 'properties' || keyword === 'patternProperties';
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        isMap ? this.#placeItem(item) : this.#placeKeyword(name, item),
      ]),
    );
  }

  #placeKeyword(name: string, value: unknown): unknown {
    const isSchema = name === 'items' || name === 'additionalProperties' || name === 'not';
    return isSchema ? this.#placeItem(value) : this.#placeWithin(value, name);
  }

  #placeItem(value: unknown): unknown {
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? this.place(value as JsonSchema)
      : value;
  }
}

/** What many generators of clients need: a type beside a list of allowed strings, and that an object without named fields may hold any. */
function explicitSchema(schema: JsonSchema): JsonSchema {
  const strings = schema.type === undefined && schema.enum?.every((value) => typeof value === 'string');
  if (strings) return { type: 'string', ...schema };
  const isFree =
    schema.type === 'object' && schema.properties === undefined && schema.additionalProperties === undefined;
  return isFree && !('patternProperties' in schema) ? { ...schema, additionalProperties: true } : schema;
}
