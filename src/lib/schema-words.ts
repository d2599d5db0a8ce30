// Words for a schema's requirements, to follow the name of a field: `must be a number or null`.
import type { ErrorObject } from 'ajv';
import { instantForm } from './instant.ts';
import { patternWords } from './pattern-words.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};
const FORMATS: Readonly<Record<string, string>> = { 'date-time': instantForm, email: 'an e-mail address' };

type Params = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<string, (params: Params) => string | undefined>> = {
  required: () => 'is required',
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).map(String).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => TYPES[name as string] ?? name)
      .join(' or ')}`,
  format: ({ format }) =>
    FORMATS[format as string] === undefined ? undefined : `must be ${FORMATS[format as string]}`,
  pattern: ({ pattern }) => patternWords(pattern as string) ?? `must match ${pattern}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${of(limit, 'character')}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${of(limit, 'item')}`,
  minProperties: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} fields`),
  maxProperties: ({ limit }) => `must have at most ${of(limit, 'field')}`,
  additionalProperties: () => 'is not a field',
};

/** A sentence without its subject and its full stop. */
export function schemaWords({ keyword, params, message }: ErrorObject): string {
  return WORDS[keyword]?.(params) ?? message ?? 'is not valid';
}

function of(count: unknown, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}
