// Fields that an input's schema does not name: refused with the nearest known name, or listed in warnings (contract §1).
import { admission } from '../../core/admission.ts';
import type { FieldError } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { type FieldSchema, takesUnknownFields } from '../field-schema.ts';
import { nearestField } from './nearest-field.ts';

/** Told by their names. */
const NAMED_MAX = 20;
const NAME_CHARACTERS_MAX = 200;
/** Known names that a refusal lists where none is near. */
const LISTED_MAX = 20;

type WalkedEndpoint = Pick<Endpoint, 'capability' | 'unknownFields' | 'fields' | 'opaque'>;

/** Unknown fields that are ignored, as warnings. */
export function unknownFieldWarnings(input: Record<string, unknown>, endpoint: WalkedEndpoint): string[] {
  if (endpoint.unknownFields === 'taken') return [];
  const unknown = unknownIn(input, endpoint, admission.call.unknownFieldsMax);
  return [...unknown.named.map(({ param }) => `${param}: unknown field, ignored`), ...unknown.remainderWarnings()];
}

/** The first unknown fields, each with the nearest known name, or else those that its place knows. Nothing is looked at beyond them. */
export function findUnknownFields(input: Record<string, unknown>, endpoint: WalkedEndpoint): FieldError[] {
  const { id } = endpoint.capability;
  return unknownIn(input, endpoint, NAMED_MAX).named.map(({ param, name, known }): FieldError => {
    const near = nearestField(name, known.keys());
    const fault = { param, rule: 'unknown_field' };
    return near === null
      ? { ...fault, message: `${param} is not a field of ${id}${namesOf(known, param.endsWith(`.${name}`))}.` }
      : { ...fault, message: `${param} is not a field of ${id}. Did you mean ${near}?`, did_you_mean: near };
  });
}

function namesOf(known: KnownFields, isWithin: boolean): string {
  const names = [...known.keys()];
  if (names.length === 0) return isWithin ? '' : ', which takes none';
  const more = names.length > LISTED_MAX ? ', …' : '';
  return `${isWithin ? ': there are' : ', which takes'} ${names.slice(0, LISTED_MAX).join(', ')}${more}`;
}

function unknownIn(input: Record<string, unknown>, endpoint: WalkedEndpoint, countMax: number): UnknownFields {
  const { fields, opaque, capability } = endpoint;
  const { patternProperties = {} } = capability.input as FieldSchema;
  const unknown = new UnknownFields(Object.keys(patternProperties), countMax);
  unknown.findIn(input, knownWithin(fields, opaque), '');
  return unknown;
}

/** Fields that are known; null where there is nothing to look at within. */
type KnownFields = ReadonlyMap<string, Within | null>;

interface Within {
  readonly members: KnownFields | null;
  readonly items: Within | null;
}

interface UnknownField {
  /** Its path. */
  readonly param: string;
  readonly name: string;
  /** What its place knows. */
  readonly known: KnownFields;
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
  readonly named: UnknownField[] = [];
  count = 0;
  readonly #patterns: readonly RegExp[];
  readonly #countMax: number;

  /** `patterns`: of names that the input as a whole may have. Beyond `countMax` nothing is looked at. */
  constructor(patterns: readonly string[], countMax: number) {
    this.#countMax = countMax;
    this.#patterns = patterns.map((pattern) => new RegExp(pattern, 'u'));
  }

  /** What is to be said of those that are not named. */
  remainderWarnings(): string[] {
    if (this.count <= NAMED_MAX) return [];
    if (this.#isOver) return [`and more unknown fields, ignored: only ${this.#countMax} are looked at`];
    return [`and ${this.count - NAMED_MAX} more unknown fields, ignored`];
  }

  findIn(value: object, known: KnownFields, path: string): void {
    for (const name in value) {
      const within = known.get(name);
      if (within === undefined) {
        if (path === '' && this.#patterns.some((pattern) => pattern.test(name))) continue;
        this.#add({ param: under(path, name).slice(0, NAME_CHARACTERS_MAX), name, known });
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
    return this.count > this.#countMax;
  }

  #add(field: UnknownField): void {
    this.count += 1;
    if (this.named.length < NAMED_MAX) this.named.push(field);
  }
}

const under = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
