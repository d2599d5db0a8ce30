import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { fixtureManifest } from '../../../test/contract/fixture.ts';
import { asJsonSchema } from '../../manifest/json-schema.ts';
import { fieldsAnswered, fieldsOf, typeInWords } from './fields.ts';

describe('typeInWords', () => {
  test.each([
    [Type.String(), 'string'],
    [Type.String({ minLength: 3, maxLength: 80, pattern: '^a$' }), 'string 3-80 characters matching ^a$'],
    [Type.String({ format: 'uri' }), 'string (uri)'],
    [Type.Integer({ minimum: 0, maximum: 43_200 }), 'integer 0-43200'],
    [Type.Number({ exclusiveMinimum: 0 }), 'number > 0'],
    [Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]), 'integer >= 1 | null'],
    [Type.Enum(['standard', 'fifo']), '"standard" | "fifo"'],
    [Type.Array(Type.String(), { minItems: 1 }), 'array of string, >= 1 items'],
    [Type.Unsafe<unknown>({ type: ['string', 'null'], maxLength: 8 }), 'string <= 8 characters | null'],
    [Type.Unsafe<unknown>({ type: ['array', 'null'], items: { type: 'string' } }), 'array of string | null'],
    [Type.Unknown(), 'any JSON value'],
  ])('%j is %s', (schema, words) => {
    expect(typeInWords(asJsonSchema(schema))).toBe(words);
  });
});

test('fields are listed path first, nested ones by their path, the idempotency key last', () => {
  const send = fixtureManifest.byId.get('parcel.send');
  expect(send && fieldsOf(send).map((field) => [field.name, field.in, field.required])).toEqual([
    ['parcel', 'path', true],
    ['weight', 'body', false],
    ['kind', 'body', true],
    ['items', 'body', true],
    ['items[].label', 'body', true],
    ['idempotency_key', 'body', false],
  ]);
});

test('a list that is answered by two names is shown by one', () => {
  const list = (description: string) => Type.Array(Type.Object({ id: Type.String() }), { description });
  const output = Type.Object({
    items: list('Newest first.'),
    groups: list('The same as items.'),
    groups_total: Type.Integer(),
  });
  expect(fieldsAnswered({ output }).map(({ path }) => path)).toEqual(['items', 'items[].id', 'groups_total']);
});
