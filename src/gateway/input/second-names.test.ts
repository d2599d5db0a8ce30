// Fields that come under a second name get their first one, wherever they stand.
import Type from 'typebox';
import { expect, test } from 'vitest';
import { alsoListed } from '../../kit/filter.ts';
import { alsoNamed, alsoWritten, secondsOfMs } from '../../kit/second-names.ts';
import type { FieldSchema } from '../field-schema.ts';
import { readSecondNames, secondNamesFor, takeSecondNames } from './second-names.ts';

const content = alsoNamed(Type.Optional(Type.String()), 'data', 'bytes');
const source = Type.Object({ content, url: Type.Optional(Type.String()) });
const schema = Type.Object({
  expires_seconds: alsoNamed(Type.Integer(), 'ttl_seconds'),
  source: Type.Optional(source),
  wait_seconds: alsoNamed(Type.Optional(Type.Number()), 'wait', { wait_ms: secondsOfMs }),
  items: alsoNamed(Type.Array(source), 'records'),
  size: alsoWritten(Type.Optional(Type.Enum(['small'])), { little: 'small' }),
  filter: alsoNamed(alsoListed(Type.Optional(Type.Object({}))), 'where'),
});
const names = readSecondNames(schema as FieldSchema);

test.each([
  ['a field', { ttl_seconds: 1 }, { expires_seconds: 1 }],
  ['a field in another unit', { wait_ms: 1_500 }, { wait_seconds: 1.5 }],
  ['a name beside one in another unit', { wait: 2 }, { wait_seconds: 2 }],
  ['what is no number, for the schema to refuse', { wait_ms: '5' }, { wait_seconds: '5' }],
  ['two names that say the same in two units', { wait_ms: 500, wait_seconds: 0.5 }, { wait_seconds: 0.5 }],
  ['a member', { source: { data: 'a' } }, { source: { content: 'a' } }],
  ['members of items', { items: [{ bytes: 'a' }, {}, 3, null] }, { items: [{ content: 'a' }, {}, 3, null] }],
  ['members of items that have a second name', { records: [{ data: 'a' }] }, { items: [{ content: 'a' }] }],
  ['two names that say the same', { ttl_seconds: 1, expires_seconds: 1 }, { expires_seconds: 1 }],
  ['first names', { expires_seconds: 1, source: { content: 'a' } }, { expires_seconds: 1, source: { content: 'a' } }],
  ['what is no object', { source: 'a', items: 'b' }, { source: 'a', items: 'b' }],
  ['a name in another place', { data: 'a' }, { data: 'a' }],
  ['a value', { size: 'little' }, { size: 'small' }],
  ['a value of another kind', { size: ['little'] }, { size: ['little'] }],
  ['a list of conditions', { where: [{ field: 'a', operator: 'equals', value: 1 }] }, { filter: { a: 1 } }],
  ['an object of conditions', { filter: { a: 1 } }, { filter: { a: 1 } }],
])('%s', (_, input: Record<string, unknown>, expected) => {
  takeSecondNames(input, names);
  expect(input).toEqual(expected);
});

test.each([
  ['ttl_seconds', { ttl_seconds: 1, expires_seconds: 2 }],
  ['wait_ms', { wait_ms: 1, wait_seconds: 1 }],
  ['items[1].data', { items: [{}, { content: 'a', data: 'b' }] }],
])('two names that differ are refused: %s', (param, input: Record<string, unknown>) => {
  expect(() => takeSecondNames(input, names)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED', param }) as Error,
  );
});

test('second names of fields, wherever they stand', () => {
  expect(secondNamesFor(['items', 'content'], names).sort()).toEqual(['bytes', 'data', 'records']);
});

test('JSON Schema does not have second names', () => {
  expect(JSON.stringify(schema)).not.toMatch(/ttl_seconds|wait_ms|data|records|little|where/);
  expect(schema.required).toEqual(['expires_seconds', 'items']);
});
