// A value that is valid under a JSON schema of the strict subset that structured outputs take: the smallest there is, the same every time.
import randexp from 'randexp';
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';

/** The class itself: its types promise it one level deeper. */
const Expression = randexp as unknown as typeof randexp.default;
/** Beyond this a schema that refers to itself is left by another branch. */
const DEPTH_MAX = 24;

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

/** Throws NoInstance. */
export function instanceOf(schema: WireObject): unknown {
  return new Instances(schema).of(schema, 0);
}

class Instances {
  readonly #root: WireObject;

  constructor(root: WireObject) {
    this.#root = root;
  }

  of(schema: unknown, depth: number): unknown {
    if (depth > DEPTH_MAX) throw new NoInstance('the schema has no end');
    if (schema === true || !isObject(schema)) return 'sandbox';
    if (typeof schema.$ref === 'string') return this.of(this.#referred(schema.$ref), depth + 1);
    if ('const' in schema) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    for (const name of ['anyOf', 'oneOf']) {
      const branches = objectsOf(schema[name]);
      if (branches.length > 0) return this.#first(branches, depth);
    }
    const all = objectsOf(schema.allOf);
    if (all.length > 0) return this.of(Object.assign({}, ...all, without(schema, 'allOf')), depth + 1);
    return this.#typed(schema, depth);
  }

  /** Of the branch that ends soonest. */
  #first(branches: readonly WireObject[], depth: number): unknown {
    for (const branch of branches) {
      try {
        return this.of(branch, depth + 1);
      } catch (error) {
        if (!(error instanceof NoInstance)) throw error;
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
        return textOf(schema);
    }
  }

  #object({ properties, required }: WireObject, depth: number): unknown {
    const known = isObject(properties) ? properties : {};
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(names.map((name) => [name, this.of(known[name], depth + 1)]));
  }

  #array({ items, minItems }: WireObject, depth: number): unknown[] {
    const wanted = Math.max(1, Number(minItems ?? 0));
    try {
      return Array.from({ length: wanted }, () => this.of(items, depth + 1));
    } catch (error) {
      if (!(error instanceof NoInstance) || Number(minItems ?? 0) > 0) throw error;
      return [];
    }
  }

  #referred(ref: string): unknown {
    const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean);
    const found = steps.reduce<unknown>((at, step) => {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
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

function textOf({ format, pattern, minLength, maxLength }: WireObject): string {
  if (typeof pattern === 'string') return matching(pattern);
  const text = FORMATS[String(format)] ?? 'sandbox';
  return text.padEnd(Number(minLength ?? 0), '.').slice(0, Number(maxLength ?? Number.POSITIVE_INFINITY));
}

function matching(pattern: string): string {
  let expression: InstanceType<typeof Expression>;
  try {
    expression = new Expression(pattern);
  } catch {
    throw new NoInstance('the pattern cannot be read');
  }
  expression.max = 4;
  // Always the least: the same every time.
  expression.randInt = (from) => from;
  return expression.gen();
}
