// Generates the smallest value that is valid under a JSON schema of the strict subset of structured outputs, always the same one. Schemas come
// from strangers and are read on the event loop: every step is charged, by what it takes, before it is repeated. Any schema is finished or
// refused within some milliseconds (`instance.soak.test.ts`).
import { isObject, objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { leastMatch } from './pattern.ts';

/** No schema of the strict subset is so deep. */
const DEPTH_MAX = 24;
/** Steps taken and characters made for one value: a short schema can ask for a value without an end. */
const SPENT_MAX = 64 * 1024;
/** What takes as long as so many steps: a value, a name that is copied, a branch that has no value, any pattern and a character of it. */
const VALUE_STEPS = 4;
const NAME_STEPS = 12;
const FAILED_STEPS = 128;
const PATTERN_STEPS = 128;
const PATTERN_CHARACTER_STEPS = 4;
const REF_CHARACTERS_MAX = 1_024;
const PATTERN_CHARACTERS_MAX = 1_000;

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date-time', '2026-01-01T00:00:00Z'],
  ['date', '2026-01-01'],
  ['time', '00:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'sandbox@example.org'],
  ['hostname', 'example.org'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['uri', 'https://example.org/'],
]);
const ANY_TEXT = 'sandbox';

/** No value of the schema was found. */
export class NoInstance extends Error {}
/** It was given up: no other branch is tried. */
class TooLarge extends NoInstance {}

/** Throws NoInstance. */
export function instanceOf(schema: WireObject): unknown {
  return new Instances(schema).of(schema, 0);
}

class Instances {
  readonly #root: WireObject;
  #spent = 0;
  /** A value never needs to have another of the same reference within it: the inner one would do. */
  readonly #open = new Set(['#']);
  readonly #resolved = new Map<string, unknown>();
  readonly #matching = new Map<string, string>();

  constructor(root: WireObject) {
    this.#root = root;
  }

  of(schema: unknown, depth: number): unknown {
    this.#spend(VALUE_STEPS);
    if (depth > DEPTH_MAX) throw new NoInstance('the schema is too deep');
    if (schema === true || !isObject(schema)) return this.#spendText(ANY_TEXT);
    if (typeof schema.$ref === 'string') return this.#followRef(schema.$ref, depth);
    if ('const' in schema) return this.#copyValue(schema.const);
    if (Array.isArray(schema.enum)) return this.#copyValue(schema.enum[0]);
    for (const name of ['anyOf', 'oneOf']) {
      const branches = this.#objectsOf(schema[name]);
      if (branches.length > 0) return this.#first(branches, depth);
    }
    const all = this.#objectsOf(schema.allOf);
    return all.length > 0 ? this.of(this.#mergeSchemas(schema, all), depth + 1) : this.#valueOfType(schema, depth);
  }

  #spend(amount: number): void {
    this.#spent += amount;
    if (!(this.#spent <= SPENT_MAX)) throw new TooLarge('its smallest value is too large');
  }

  #objectsOf(value: unknown): readonly WireObject[] {
    if (!Array.isArray(value)) return [];
    this.#spend(value.length);
    return objectsOf(value);
  }

  #spendText(text: string): string {
    this.#spend(text.length);
    return text;
  }

  #copyValue(value: unknown): unknown {
    if (value === undefined) throw new NoInstance('an enum is empty');
    this.#spend(sizeWithin(value, SPENT_MAX - this.#spent));
    return value;
  }

  #mergeSchemas(schema: WireObject, all: readonly WireObject[]): WireObject {
    const { allOf: _, ...rest } = schema;
    const whole: Record<string, unknown> = {};
    for (const part of [...all, rest]) {
      for (const name in part) {
        this.#spend(NAME_STEPS);
        whole[name] = part[name];
      }
    }
    return whole;
  }

  /** Of the first branch that has an end. */
  #first(branches: readonly WireObject[], depth: number): unknown {
    for (const branch of branches) {
      try {
        return this.of(branch, depth + 1);
      } catch (error) {
        if (!(error instanceof NoInstance) || error instanceof TooLarge) throw error;
        this.#spend(FAILED_STEPS);
      }
    }
    throw new NoInstance('no branch has an end');
  }

  #valueOfType(schema: WireObject, depth: number): unknown {
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type ?? (isObject(schema.properties) ? 'object' : 'string')) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'number':
        return this.#number(schema, 0);
      case 'integer':
        return this.#number(schema, 1);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object({ properties, required }: WireObject, depth: number): unknown {
    const known = isObject(properties) ? properties : {};
    const names: readonly unknown[] = Array.isArray(required) ? required : [];
    const made: [string, unknown][] = [];
    for (const name of names) {
      if (typeof name !== 'string') throw new NoInstance('a name that is required is no text');
      this.#spend(name.length);
      // What every object inherits is no property of the schema.
      made.push([name, this.of(Object.hasOwn(known, name) ? known[name] : true, depth + 1)]);
    }
    return Object.fromEntries(made);
  }

  #array({ items, minItems }: WireObject, depth: number): unknown[] {
    const least = numberIn(minItems, 0);
    const made: unknown[] = [];
    try {
      while (made.length < Math.max(1, least)) made.push(this.of(items, depth + 1));
    } catch (error) {
      if (!(error instanceof NoInstance) || error instanceof TooLarge || least > 0) throw error;
      this.#spend(FAILED_STEPS);
    }
    return made;
  }

  #number(schema: WireObject, step: 0 | 1): number {
    const value = numberOf(schema, step);
    this.#spend(String(value).length);
    return value;
  }

  #text({ format, pattern, minLength, maxLength }: WireObject): string {
    if (typeof pattern === 'string') return this.#spendText(this.#matchingOf(pattern));
    const text = FORMATS.get(format) ?? ANY_TEXT;
    const least = numberIn(minLength, 0);
    this.#spend(Math.max(text.length, least));
    return text.padEnd(least, '.').slice(0, numberIn(maxLength, Number.POSITIVE_INFINITY));
  }

  #matchingOf(pattern: string): string {
    const known = this.#matching.get(pattern);
    if (known !== undefined) return known;
    if (pattern.length > PATTERN_CHARACTERS_MAX) throw new TooLarge('a pattern is too long');
    this.#spend(PATTERN_STEPS + pattern.length * PATTERN_CHARACTER_STEPS);
    const made = leastMatch(pattern, () => this.#spend(1));
    if (made === null) throw new NoInstance('a pattern matches nothing, or refers back');
    this.#matching.set(pattern, made);
    return made;
  }

  #followRef(ref: string, depth: number): unknown {
    if (ref.length > REF_CHARACTERS_MAX) throw new TooLarge(`a $ref has more than ${REF_CHARACTERS_MAX} characters`);
    if (this.#open.has(ref)) throw new NoInstance('the schema has no end');
    this.#open.add(ref);
    try {
      return this.of(this.#at(ref), depth + 1);
    } finally {
      this.#open.delete(ref);
    }
  }

  #at(ref: string): unknown {
    if (!this.#resolved.has(ref)) {
      this.#spend(ref.length);
      this.#resolved.set(ref, resolveRef(this.#root, ref));
    }
    const found = this.#resolved.get(ref);
    if (found === undefined) throw new NoInstance(`there is no ${ref}`);
    return found;
  }
}

function resolveRef(root: WireObject, ref: string): unknown {
  const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  return steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}

/** About as many characters as its JSON has; counted only until there are more than `max`. */
function sizeWithin(value: unknown, max: number): number {
  let size = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0 && size <= max) {
    const one = pending.pop();
    size += 1;
    if (typeof one === 'string') size += one.length;
    else if (typeof one === 'number') size += String(one).length;
    else if (Array.isArray(one)) {
      if (size + one.length > max) return Number.POSITIVE_INFINITY;
      for (const each of one) pending.push(each);
    } else if (isObject(one)) {
      for (const name in one) {
        size += NAME_STEPS + name.length;
        if (size > max) return Number.POSITIVE_INFINITY;
        pending.push(one[name]);
      }
    }
  }
  return size;
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function numberOf(schema: WireObject, step: 0 | 1): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const unit = typeof multipleOf === 'number' ? multipleOf : step;
  const [from, above] = [numberIn(minimum, -Infinity), numberIn(exclusiveMinimum, -Infinity)];
  const [to, below] = [numberIn(maximum, Infinity), numberIn(exclusiveMaximum, Infinity)];
  const low = Math.max(from, above);
  const high = Math.min(to, below);
  const fits = (value: number) => value >= from && value <= to && value > above && value < below;
  const near = Number.isFinite(low) ? low : Number.isFinite(high) ? high : 0;
  const among = Number.isFinite(low) && Number.isFinite(high) ? [(low + high) / 2] : [];
  const stepped =
    unit === 0
      ? []
      : [Math.ceil(near / unit), Math.floor(near / unit)].flatMap((k) => [k * unit, (k + 1) * unit, (k - 1) * unit]);
  const candidates = unit === 0 ? [0, 1, near, near + 1, near - 1, ...among] : [0, unit, ...stepped];
  const found = candidates.find(fits);
  if (found === undefined) throw new NoInstance('no number fits');
  return found;
}
