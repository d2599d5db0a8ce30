// The types of all requests and answers, once, for clients of any language: every object with fields becomes a struct with a name. Two of
// the same name and the same fields are one.
import type { Capability } from '../../src/kit/capability.ts';
import { requestSchema } from '../../src/manifest/describe.ts';
import { asJsonSchema, type JsonSchema } from '../../src/manifest/json-schema.ts';
import type { StreamDescription } from '../../src/manifest/streams.ts';

export type Shape =
  | { readonly kind: 'plain'; readonly name: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'unknown' }
  | { readonly kind: 'literal'; readonly values: readonly (string | number | boolean | null)[] }
  | { readonly kind: 'struct'; readonly name: string }
  | { readonly kind: 'array'; readonly of: Shape }
  | { readonly kind: 'record'; readonly of: Shape }
  | { readonly kind: 'union'; readonly of: readonly Shape[] };

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly shape: Shape;
  readonly words: string;
}

export interface Call {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly input: Shape;
  /** Whether it may be called without any field. */
  readonly inputRequired: boolean;
  readonly output: Shape;
  /** It takes an idempotency key, is safe to repeat as it is, or neither. */
  readonly repeat: 'keyed' | 'safe' | 'unsafe';
}

/** Server-Sent Events by GET. */
export interface EventStream {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  /** It goes on after the event that a query names. */
  readonly isResumed: boolean;
}

export interface Shapes {
  readonly structs: ReadonlyMap<string, readonly Field[]>;
  readonly calls: readonly Call[];
  readonly streams: readonly EventStream[];
}

const UNKNOWN: Shape = { kind: 'plain', name: 'unknown' };

export const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

export function shapesOf(capabilities: readonly Capability[], described: readonly StreamDescription[]): Shapes {
  const structs = new Map<string, readonly Field[]>();
  const calls = capabilities.map((capability): Call => {
    const { id, method, path, summary, idempotent, isLongRead } = capability;
    const name = pascal(id);
    const schema = requestSchema(capability);
    return {
      id,
      method,
      path,
      summary,
      input: new Namer(structs, name).shape(schema, `${name}Input`),
      inputRequired: (schema.required ?? []).length > 0,
      output: new Namer(structs, name).shape(asJsonSchema(capability.output), `${name}Data`),
      repeat: idempotent ? 'keyed' : method === 'GET' || isLongRead === true ? 'safe' : 'unsafe',
    };
  });
  const streams = described.map(({ id, path, summary, query_schema }) => ({
    id,
    path,
    summary,
    isResumed: 'last_event_id' in (query_schema.properties ?? {}),
  }));
  return { structs, calls, streams };
}

class Namer {
  readonly #structs: Map<string, readonly Field[]>;
  readonly #call: string;

  constructor(structs: Map<string, readonly Field[]>, call: string) {
    this.#structs = structs;
    this.#call = call;
  }

  /** @param name of an object that has no title */
  shape(schema: JsonSchema, name: string): Shape {
    if (schema.enum !== undefined) return { kind: 'literal', values: schema.enum as string[] };
    const options = schema.anyOf as readonly JsonSchema[] | undefined;
    if (options !== undefined && schema.properties === undefined)
      return { kind: 'union', of: options.map((option, i) => this.shape(option, `${name}${i + 1}`)) };
    const types = [schema.type ?? []].flat() as string[];
    if (types.length > 1) return { kind: 'union', of: types.map((type) => this.shape({ ...schema, type }, name)) };
    const [type] = types;
    if (type === 'array') return { kind: 'array', of: this.shape((schema.items as JsonSchema) ?? {}, `${name}Item`) };
    if (type === 'object') return this.#object(schema, name);
    return type === undefined ? UNKNOWN : ({ kind: 'plain', name: type } as Shape);
  }

  #object(schema: JsonSchema, name: string): Shape {
    const properties = Object.entries(schema.properties ?? {}) as [string, JsonSchema][];
    if (properties.length === 0 && !name.endsWith('Input')) return { kind: 'record', of: this.#values(schema, name) };
    const own = schema.title === undefined || name.endsWith('Input') ? name : pascal(String(schema.title));
    const fields = properties.map(
      ([field, of]): Field => ({
        name: field,
        required: (schema.required ?? []).includes(field),
        shape: this.shape(of, own + pascal(field)),
        words: String(of.description ?? ''),
      }),
    );
    return { kind: 'struct', name: this.#put(own, fields) };
  }

  #values(schema: JsonSchema, name: string): Shape {
    const [pattern] = Object.values((schema.patternProperties ?? {}) as Record<string, JsonSchema>);
    const values = pattern ?? schema.additionalProperties;
    return typeof values === 'object' ? this.shape(values as JsonSchema, `${name}Value`) : UNKNOWN;
  }

  #put(own: string, fields: readonly Field[]): string {
    const text = sameness(fields);
    const names = [own, `${this.#call}${own}`, ...Array.from({ length: 9 }, (_, i) => `${this.#call}${own}${i + 2}`)];
    for (const name of names) {
      const known = this.#structs.get(name);
      if (known !== undefined && sameness(known) !== text) continue;
      if (known === undefined) this.#structs.set(name, fields);
      return name;
    }
    throw new Error(`too many objects are called ${own}`);
  }
}

const sameness = (fields: readonly Field[]) => JSON.stringify(fields.map(({ words: _, ...field }) => field));
