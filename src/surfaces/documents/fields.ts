// The input of a capability as a list of described fields, for documentation that people and agents read.
import { type Capability, pathParameters } from '../../kit/capability.ts';
import { idempotencyKeyField } from '../../manifest/describe.ts';
import { takesBody } from '../../manifest/failures.ts';
import { alternatives, asJsonSchema, type FieldAt, fieldsWithin, type JsonSchema } from '../../manifest/json-schema.ts';

export type FieldLocation = 'path' | 'query' | 'body';

export interface Field {
  /** `messages[].payload` */
  readonly name: string;
  readonly in: FieldLocation;
  /** `integer 1-10`, `"standard" | "fifo"` */
  readonly type: string;
  /** The same without patterns, and without bounds either: what a value may be is told by whoever refuses it. */
  readonly shortType: string;
  readonly bareType: string;
  readonly required: boolean;
  /** JSON text of the default; undefined when there is none. */
  readonly default: string | undefined;
  readonly description: string;
}

/** Path parameters first, then the other fields in the order of the schema, then the idempotency key where the call takes one. */
export function fieldsOf(capability: Pick<Capability, 'method' | 'path' | 'input' | 'idempotent'>): Field[] {
  const inPath = new Set(pathParameters(capability.path));
  const beside: FieldLocation = takesBody(capability) ? 'body' : 'query';
  const all = fieldsWithin(asJsonSchema(capability.input));
  const key: FieldAt[] = capability.idempotent
    ? [{ path: 'idempotency_key', schema: idempotencyKeyField, required: false }]
    : [];
  return [
    ...all.filter(({ path }) => inPath.has(path)).map((field) => inWords(field, 'path')),
    ...[...all.filter(({ path }) => !inPath.has(path)), ...key].map((field) => inWords(field, beside)),
  ];
}

const SAME = /^The same as [a-z_]+\.$/;

/** The fields of an answer, each by one name: what is there by another name too is shown by the first only. */
export function fieldsAnswered({ output }: Pick<Capability, 'output'>): FieldAt[] {
  const all = fieldsWithin(asJsonSchema(output));
  const doubled = all.filter(({ schema }) => SAME.test(schema.description ?? '')).map(({ path }) => path);
  return all.filter(
    ({ path }) =>
      !doubled.some((name) => path === name || (/^[.[]/.test(path.slice(name.length)) && path.startsWith(name))),
  );
}

function inWords({ path, schema, required }: FieldAt, place: FieldLocation): Field {
  const typeAt = (detail: Detail) =>
    place === 'query' && schema.type === 'object' ? `object, as ${path}[NAME]=value` : typeInWords(schema, detail);
  return {
    name: path,
    in: place,
    type: typeAt('patterns'),
    shortType: typeAt('bounds'),
    bareType: typeAt('none'),
    required,
    default: schema.default === undefined ? undefined : JSON.stringify(schema.default),
    description: schema.description ?? '',
  };
}

/** What is told beside the type. */
type Detail = 'patterns' | 'bounds' | 'none';

/** A schema in a few words: type, allowed values, bounds. */
export function typeInWords(schema: JsonSchema, detail: Detail = 'patterns'): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const branches = alternatives(schema);
  if (branches[0] !== schema) return [...new Set(branches.map((branch) => typeInWords(branch, detail)))].join(' | ');
  if (typeof schema.type === 'object')
    return schema.type.map((type) => typeInWords({ ...schema, type }, detail)).join(' | ');
  if (schema.type === 'null') return 'null';
  if (schema.type === 'array') {
    const count = detail === 'none' ? '' : bounds(schema.minItems, schema.maxItems, ' items');
    return `array of ${typeInWords(schema.items ?? {}, detail)}${count === '' ? '' : `,${count}`}`;
  }
  return `${schema.type ?? 'any JSON value'}${schema.format === undefined ? '' : ` (${schema.format})`}${constraints(schema, detail)}`;
}

function constraints(schema: JsonSchema, detail: Detail): string {
  if (detail === 'none') return '';
  const exclusive = schema.exclusiveMinimum === undefined ? '' : ` > ${schema.exclusiveMinimum}`;
  const length = bounds(schema.minLength, schema.maxLength, ' characters');
  const pattern = schema.pattern === undefined || detail !== 'patterns' ? '' : ` matching ${schema.pattern}`;
  return `${bounds(schema.minimum, schema.maximum, '')}${exclusive}${length}${pattern}`;
}

function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return ` ${least}-${most}${unit}`;
  if (least !== undefined) return ` >= ${least}${unit}`;
  return most === undefined ? '' : ` <= ${most}${unit}`;
}
