// Fields that an input's schema does not name: account writes refuse them, all others name them in warnings (contract §1).
import { admission } from '../../core/admission.ts';
import { problem } from '../../problems/problem.ts';
import { type Endpoint, type FieldSchema, takesUnknownFields } from '../endpoint.ts';

const { unknownFieldsMax } = admission.call;
/** Told by their names. */
const NAMED_MAX = 20;
const NAME_CHARACTERS_MAX = 200;

type WalkedEndpoint = Pick<Endpoint, 'capability' | 'unknownFields' | 'fields' | 'opaque'>;

/** Unknown fields that are ignored, as warnings. Throws VALIDATION_FAILED where they are refused. */
export function unknownFieldWarnings(input: Record<string, unknown>, endpoint: WalkedEndpoint): string[] {
  const { unknownFields: treatment, fields, opaque, capability } = endpoint;
  if (treatment === 'taken') return [];
  const unknown = new UnknownFields(opaque);
  unknown.findIn(input, fields, '');
  if (unknown.count === 0) return [];
  if (treatment === 'refused') throw refusal(unknown.named, capability.id);
  return [...unknown.named.map((param) => `${param}: unknown field, ignored`), ...unknown.unnamed()];
}

function refusal(named: readonly string[], capability: string) {
  const errors = named.map((param) => ({
    param,
    rule: 'unknown_field',
    message: `${param} is not a field of ${capability}.`,
  }));
  const [first] = errors;
  return problem('VALIDATION_FAILED', {
    param: first?.param,
    detail: 'unknown_field',
    message: first?.message,
    errors,
  });
}

class UnknownFields {
  readonly named: string[] = [];
  count = 0;
  readonly #opaque: ReadonlySet<string>;

  constructor(opaque: ReadonlySet<string>) {
    this.#opaque = opaque;
  }

  /** What is to be said of those that are not named. */
  unnamed(): string[] {
    if (this.count <= NAMED_MAX) return [];
    if (this.#isOver) return [`and more unknown fields, ignored: only ${unknownFieldsMax} are looked at`];
    return [`and ${this.count - NAMED_MAX} more unknown fields, ignored`];
  }

  findIn(value: object, fields: Readonly<Record<string, FieldSchema>>, path: string): void {
    for (const name in value) {
      if (this.#isOver) return;
      const schema = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (schema === undefined) this.#add(name, path);
      else if (!this.#opaque.has(name)) {
        const child = (value as Record<string, unknown>)[name];
        if (child !== null && typeof child === 'object') this.#findWithin(child, schema, under(path, name));
      }
    }
  }

  #findWithin(value: object, schema: FieldSchema, at: string): void {
    if (!Array.isArray(value)) {
      if (schema.properties !== undefined && !takesUnknownFields(schema)) this.findIn(value, schema.properties, at);
      return;
    }
    const { items } = schema;
    if (items?.properties === undefined) return;
    for (let i = 0; i < value.length && !this.#isOver; i += 1) {
      const item: unknown = value[i];
      if (item !== null && typeof item === 'object') this.#findWithin(item, items, `${at}[${i}]`);
    }
  }

  get #isOver(): boolean {
    return this.count > unknownFieldsMax;
  }

  #add(name: string, path: string): void {
    this.count += 1;
    if (this.named.length < NAMED_MAX) this.named.push(under(path, name).slice(0, NAME_CHARACTERS_MAX));
  }
}

const under = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
