// What a schema asks for, in words.
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { schemaWords } from './schema-words.ts';

test.each([
  [{ type: 'number' }, 'x', 'must be a number'],
  [{ type: ['number', 'null'] }, 'x', 'must be a number or null'],
  [{ type: 'integer' }, 1.5, 'must be an integer'],
  [{ type: 'boolean' }, 1, 'must be true or false'],
  [{ type: 'object' }, [], 'must be an object'],
  [{ enum: ['a', 'b'] }, 'c', 'must be one of a, b'],
  [{ minimum: 2 }, 1, 'must be at least 2'],
  [{ maximum: 2 }, 3, 'must be at most 2'],
  [{ exclusiveMinimum: 0 }, 0, 'must be more than 0'],
  [{ minLength: 1 }, '', 'must not be empty'],
  [{ minLength: 3 }, 'ab', 'must have at least 3 characters'],
  [{ maxLength: 1 }, 'ab', 'must have at most 1 character'],
  [{ minItems: 1 }, [], 'must not be empty'],
  [{ maxItems: 2 }, [1, 2, 3], 'must have at most 2 items'],
  [{ pattern: '^a' }, 'b', 'must match ^a'],
  [{ pattern: '^[a-z0-9_-]+$' }, 'B', 'may only have a-z, 0-9 and _ -'],
  [{ pattern: '^[a-z][a-z0-9._-]*$' }, '1', 'must begin with a-z and may only have a-z, 0-9 and . _ -'],
  [{ pattern: '^[^\\s\\p{Cc}/@]+$' }, '/', 'must not have spaces, control characters or / @'],
  [{ pattern: '^[0-9]{6}$' }, '1', 'must be 6 digits'],
  [{ pattern: '^key_[0-9A-Za-z]{20,40}$' }, 'k', 'must be key_, then 20 to 40 characters of 0-9, A-Z and a-z'],
  [{ required: ['a'] }, {}, 'is required'],
  [{ additionalProperties: false }, { a: 1 }, 'is not a field'],
  [{ const: 1 }, 2, 'must be 1'],
])('%j refuses %j: %s', (schema, value, words) => {
  const isValid = new Ajv({ strict: false }).compile(schema);
  isValid(value);
  expect((isValid.errors ?? []).map(schemaWords)).toEqual([words]);
});
