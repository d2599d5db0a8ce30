import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../gateway/field-schema.ts';
import { brokenMember, fromPath, fromQuery, groupQuery } from './query-value.ts';

const filter: FieldSchema = {
  type: 'object',
  properties: { is_resolved: { type: 'boolean' }, level: { type: 'string' }, levels: { type: 'array' } },
};
const fields: Readonly<Record<string, FieldSchema>> = {
  filter,
  limit: { type: 'integer' },
  ids: { type: 'array' },
  name: { type: 'string' },
  at_most: { anyOf: [{ type: 'number' }, { type: 'null' }] },
};

function read(query: string): Record<string, unknown> {
  const parameters = groupQuery(new URLSearchParams(query), fields);
  return Object.fromEntries([...parameters].map(([name, each]) => [name, fromQuery(each, fields[name] ?? {})]));
}

describe('a query', () => {
  test.each([
    ['limit=5', { limit: 5 }],
    ['limit=5&limit=6', { limit: ['5', '6'] }],
    ['limit=0x10', { limit: '0x10' }],
    ['limit=', { limit: '' }],
    ['limit=1e3', { limit: '1e3' }],
    ['limit=%205', { limit: ' 5' }],
    ['limit=-1.5', { limit: -1.5 }],
    ['at_most=2.5', { at_most: 2.5 }],
    ['name=5', { name: '5' }],
    ['name=true', { name: 'true' }],
    ['ids=a,b', { ids: ['a', 'b'] }],
    ['ids=a,b&ids=c', { ids: ['a,b', 'c'] }],
    ['filter={"level":"error","is_resolved":true}', { filter: { level: 'error', is_resolved: true } }],
    ['filter[level]=error&filter[is_resolved]=true', { filter: { level: 'error', is_resolved: true } }],
    ['filter.level=error&filter.is_resolved=true', { filter: { level: 'error', is_resolved: true } }],
    ['filter.tags.region=eu', { filter: { 'tags.region': 'eu' } }],
    ['name.first=a', { 'name.first': 'a' }],
    ['filter[level]=true', { filter: { level: 'true' } }],
    ['filter[tags.region]=eu&filter[from]=2026-11-01', { filter: { 'tags.region': 'eu', from: '2026-11-01' } }],
    ['filter[levels]=error,fatal', { filter: { levels: ['error', 'fatal'] } }],
    ['filter[level]=a&filter[level]=b', { filter: { level: ['a', 'b'] } }],
    ['filter=environment:production', { filter: 'environment:production' }],
    ['filter=%7B"level"', { filter: '{"level"' }],
    ['filter={}&filter[level]=error', { filter: ['{}'] }],
    [`filter=${'['.repeat(33)}${']'.repeat(33)}`, { filter: '['.repeat(33) + ']'.repeat(33) }],
    ['name[first]=a', { 'name[first]': 'a' }],
    ['other[key]=a', { 'other[key]': 'a' }],
    ['constructor[key]=a', { 'constructor[key]': 'a' }],
  ])('%s', (query, expected) => {
    expect(read(query)).toEqual(expected);
  });

  test('a member named __proto__ is an own property that the hostile-key check sees', () => {
    const { filter: value } = read('filter[__proto__]=x') as { filter: object };
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
  });
});

test('what is written as a member of an object and is none is told from other parameters', () => {
  for (const name of ['filter[]', 'filter[a][b]', 'filter[', 'filter[a', 'filter[Ä]x']) {
    expect(brokenMember(name, fields)).toBe('filter');
  }
  for (const name of ['filter', 'name[first]', 'other[key]', '[a]', 'constructor[a][b]', '']) {
    expect(brokenMember(name, fields)).toBeNull();
  }
});

describe('a path parameter', () => {
  test.each([
    ['7', { type: 'integer' }, 7],
    ['7', { type: 'string' }, '7'],
    ['a,b', { type: 'string' }, 'a,b'],
  ])('%s as %j', (value, schema, expected) => {
    expect(fromPath(value, schema)).toBe(expected);
  });
});
