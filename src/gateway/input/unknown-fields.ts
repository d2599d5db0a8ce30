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
  const { patternProperties = {} } = capability.input as FieldSchema;
  const unknown = new UnknownFields(Object.keys(patternProperties));
  unknown.findIn(input, knownWithin(fields, opaque), '');
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

/** Fields that are known; null where there is nothing to look at within. */
type KnownFields = ReadonlyMap<string, Within | null>;

interface Within {
  readonly members: KnownFields | null;
  readonly items: Within | null;
}

/** By the fields of an endpoint. One look-up a name: a stack of 60 frames has 500 of them. */
const knownFields = new WeakMap<object, KnownFields>();

function knownWithin(fields: Endpoint['fields'], opaque: ReadonlySet<string>): KnownFields {
  const known = knownFields.get(fields) ?? readFields(fields, opaque);
  knownFields.set(fields, known);
  return known;
}

function readFields(fields: Endpoint['fields'], opaque: ReadonlySet<string>): KnownFields {
  const entries = Object.entries(fields);
  return new Map(entries.map(([name, schema]) => [name, opaque.has(name) ? null : readSchema(schema, opaque)]));
}

function readSchema(schema: FieldSchema, opaque: ReadonlySet<string>): Within | null {
  const { properties, items: each } = schema;
  const members = properties === undefined || takesUnknownFields(schema) ? null : readFields(properties, opaque);
  const items = each === undefined ? null : readSchema(each, opaque);
  return members === null && items === null ? null : { members, items };
}

class UnknownFields {
  readonly named: string[] = [];
  count = 0;
  readonly #patterns: readonly RegExp[];

  /** `patterns`: of names that the input as a whole may have. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => new RegExp(pattern, 'u'));
  }

  /** What is to be said of those that are not named. */
  unnamed(): string[] {
    if (this.count <= NAMED_MAX) return [];
    if (this.#isOver) return [`and more unknown fields, ignored: only ${unknownFieldsMax} are looked at`];
    return [`and ${this.count - NAMED_MAX} more unknown fields, ignored`];
  }

  findIn(value: object, known: KnownFields, path: string): void {
    for (const name in value) {
      const within = known.get(name);
      if (within === undefined) {
        if (path === '' && this.#patterns.some((pattern) => pattern.test(name))) continue;
        this.#add(name, path);
        if (this.#isOver) return;
      } else if (within !== null) {
        const child = (value as Record<string, unknown>)[name];
        if (child !== null && typeof child === 'object') this.#findWithin(child, within, under(path, name));
      }
    }
  }

  #findWithin(value: object, { members, items }: Within, at: string): void {
    if (!Array.isArray(value)) {
      if (members !== null) this.findIn(value, members, at);
      return;
    }
    if (items === null) return;
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
