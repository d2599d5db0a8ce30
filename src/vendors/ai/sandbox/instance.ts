// A value that is valid under a JSON schema of the strict subset that structured outputs take: the smallest there is, the same every time.
import randexp from 'randexp';
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';

/** The class itself: its types promise it one level deeper. */
const Expression = randexp as unknown as typeof randexp.default;
/** No schema of the strict subset is so deep. */
const DEPTH_MAX = 24;
/** Steps taken and characters made for one value: a short schema can ask for a value without an end. */
const SPENT_MAX = 64 * 1024;
const PATTERN_CHARACTERS_MAX = 1_000;
/** Of a pattern, in all. */
const REPEATS_MAX = 1_000;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'sandbox@example.org',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'https://example.org/',
};

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

  constructor(root: WireObject) {
    this.#root = root;
  }

  of(schema: unknown, depth: number): unknown {
    this.#spend(1);
    if (depth > DEPTH_MAX) throw new NoInstance('the schema is too deep');
    if (schema === true || !isObject(schema)) return 'sandbox';
    if (typeof schema.$ref === 'string') return this.#referred(schema.$ref, depth);
    if ('const' in schema) return this.#copied(schema.const);
    if (Array.isArray(schema.enum)) return this.#copied(schema.enum[0]);
    for (const name of ['anyOf', 'oneOf']) {
      const branches = objectsOf(schema[name]);
      if (branches.length > 0) return this.#first(branches, depth);
    }
    const all = objectsOf(schema.allOf);
    this.#spend(all.length);
    if (all.length > 0) return this.of(Object.assign({}, ...all, without(schema, 'allOf')), depth + 1);
    return this.#typed(schema, depth);
  }

  #spend(amount: number): void {
    this.#spent += amount;
    if (!(this.#spent <= SPENT_MAX)) throw new TooLarge('its smallest value is too large');
  }

  #copied(value: unknown): unknown {
    if (value === undefined) throw new NoInstance('an enum is empty');
    this.#spend(JSON.stringify(value).length);
    return value;
  }

  /** Of the first branch that has an end. */
  #first(branches: readonly WireObject[], depth: number): unknown {
    this.#spend(branches.length);
    for (const branch of branches) {
      try {
        return this.of(branch, depth + 1);
      } catch (error) {
        if (!(error instanceof NoInstance) || error instanceof TooLarge) throw error;
      }
    }
    throw new NoInstance('no branch has an end');
  }

  #typed(schema: WireObject, depth: number): unknown {
    const [type] = [schema.type].flat();
    switch (type ?? (isObject(schema.properties) ? 'object' : 'string')) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'number':
        return numberOf(schema, 0);
      case 'integer':
        return numberOf(schema, 1);
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
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(
      names.map((name) => {
        this.#spend(name.length);
        // What every object inherits is no property of the schema.
        return [name, this.of(Object.hasOwn(known, name) ? known[name] : true, depth + 1)];
      }),
    );
  }

  #array({ items, minItems }: WireObject, depth: number): unknown[] {
    const least = Number(minItems ?? 0);
    const made: unknown[] = [];
    try {
      while (made.length < Math.max(1, least)) made.push(this.of(items, depth + 1));
    } catch (error) {
      if (!(error instanceof NoInstance) || error instanceof TooLarge || least > 0) throw error;
    }
    return made;
  }

  #text({ format, pattern, minLength, maxLength }: WireObject): string {
    if (typeof pattern === 'string') return matching(pattern);
    const text = FORMATS[String(format)] ?? 'sandbox';
    const least = Number(minLength ?? 0);
    this.#spend(Math.max(text.length, least));
    return text.padEnd(least, '.').slice(0, Number(maxLength ?? Number.POSITIVE_INFINITY));
  }

  #referred(ref: string, depth: number): unknown {
    if (this.#open.has(ref)) throw new NoInstance('the schema has no end');
    this.#open.add(ref);
    try {
      return this.of(this.#at(ref), depth + 1);
    } finally {
      this.#open.delete(ref);
    }
  }

  #at(ref: string): unknown {
    const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean);
    const found = steps.reduce<unknown>((at, step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    }, this.#root);
    if (found === undefined) throw new NoInstance(`there is no ${ref}`);
    return found;
  }
}

function without(schema: WireObject, name: string): WireObject {
  return Object.fromEntries(Object.entries(schema).filter(([other]) => other !== name));
}

function numberOf(schema: WireObject, step: 0 | 1): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const unit = typeof multipleOf === 'number' ? multipleOf : step;
  const low = Math.max(Number(minimum ?? -Infinity), Number(exclusiveMinimum ?? -Infinity));
  const high = Math.min(Number(maximum ?? Infinity), Number(exclusiveMaximum ?? Infinity));
  const fits = (value: number) =>
    value >= Number(minimum ?? -Infinity) &&
    value <= Number(maximum ?? Infinity) &&
    value > Number(exclusiveMinimum ?? -Infinity) &&
    value < Number(exclusiveMaximum ?? Infinity);
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

/** The least that matches. What a pattern repeats is counted, and what it refers back to would double it. */
function matching(pattern: string): string {
  if (pattern.length > PATTERN_CHARACTERS_MAX) throw new TooLarge('a pattern is too long');
  if (/\\[1-9k]/.test(pattern)) throw new NoInstance('a pattern refers back');
  let expression: InstanceType<typeof Expression>;
  try {
    expression = new Expression(pattern);
  } catch {
    throw new NoInstance('the pattern cannot be read');
  }
  let repeats = 0;
  expression.max = 4;
  // Always the least: the same every time.
  expression.randInt = (from) => {
    repeats += Math.max(from, 1);
    if (repeats > REPEATS_MAX) throw new TooLarge('a pattern repeats too much');
    return from;
  };
  return expression.gen();
}
