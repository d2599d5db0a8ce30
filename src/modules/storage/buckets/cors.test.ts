// What the rules of a bucket allow a page, trick by trick.
import { describe, expect, test } from 'vitest';
import { type CorsRule, corsHeaders, likePatterns, ORIGIN_PATTERN, withIds } from './cors.ts';

const rule: CorsRule = {
  origins: ['https://app.example.com', 'https://*.example.org', 'http://localhost:*'],
  methods: ['GET', 'PUT'],
  headers: ['content-type', 'x-amz-*'],
  expose: ['ETag'],
  max_age_seconds: 600,
};
const allowed = (origin: string, method = 'PUT', asked: string[] | null = null, rules = [rule]) =>
  corsHeaders(rules, { origin, method, asked })?.['access-control-allow-origin'] ?? null;

describe('an origin', () => {
  test.each(['https://app.example.com', 'https://a.example.org', 'https://a.b.example.org', 'http://localhost:5173'])(
    '%s may',
    (origin) => expect(allowed(origin)).toBe(origin),
  );

  test.each([
    'null',
    '',
    'https://app.example.com.evil.test',
    'https://app.example.com:8443',
    'http://app.example.com',
    'https://APP.example.com',
    'https://evil.test/https://app.example.com',
    'https://app.example.com@evil.test',
    'https://example.org',
    'https://example.org.evil.test',
    'https://xexample.org',
    'https://.example.or',
    'http://localhost',
    '*',
    `https://${'a'.repeat(300)}.example.org`,
  ])('%j may not', (origin) => expect(allowed(origin)).toBeNull());

  test('of all is answered by a star, without credentials', () => {
    const told = corsHeaders([{ ...rule, origins: ['*'] }], { origin: 'null', method: 'GET', asked: null });
    expect(told).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(told).not.toHaveProperty('access-control-allow-credentials');
  });
});

describe('a preflight', () => {
  test.each<[string, string[], boolean]>([
    ['PUT', ['Content-Type', 'X-Amz-Meta-A'], true],
    ['PUT', [], true],
    ['PUT', ['authorization'], false],
    ['PUT', ['content-type', 'content-type2'], false],
    ['DELETE', [], false],
    ['put', [], false],
    ['PUT', Array.from({ length: 101 }, () => 'content-type'), false],
  ])('of %s with %j', (method, asked, may) => {
    expect(allowed('https://app.example.com', method, asked) !== null).toBe(may);
  });

  test('is answered by the first rule that fits, with what the page may read and for how long', () => {
    const rules = [
      { ...rule, methods: ['GET' as const] },
      { ...rule, headers: ['*'], expose: [], max_age_seconds: null },
    ];
    expect(corsHeaders(rules, { origin: 'https://app.example.com', method: 'PUT', asked: ['A', 'b'] })).toEqual({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'a, b',
      'access-control-allow-credentials': 'true',
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
    });
  });
});

test.each([
  ['https://a.test', true],
  ['https://*.a.test:8443', true],
  ['*', true],
  ['null', true],
  ['https://*.*.test', false],
  ['https://a.test/', false],
  ['https://a.test/x', false],
  ['https://a.test, https://b.test', false],
  ['https://a.test\n', false],
])('%j as an origin of a rule: %s', (origin, may) => {
  expect(new RegExp(ORIGIN_PATTERN, 'u').test(origin)).toBe(may);
});

test('ids of rules stay while the rules do', () => {
  const kept = [{ ...rule, id: 'mine' }];
  expect(withIds([rule, rule], kept)).toEqual([
    { ...rule, id: 'mine' },
    { ...rule, id: null },
  ]);
  expect(withIds([{ ...rule, methods: ['GET'] }], kept)).toMatchObject([{ id: null }]);
});

test('patterns of LIKE say what origins do, and no more', () => {
  expect(likePatterns([{ ...rule, origins: ['https://*.a_b%.test', '*', '*'] }])).toEqual([
    String.raw`https://%.a\_b\%.test`,
    '%',
  ]);
});
