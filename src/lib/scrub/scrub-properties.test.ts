// Guarantees for whatever is sent: never throws, changes nothing it was given, keeps the shape, and finds nothing more the second time.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrubEvent } from './scrub.ts';

const pieces = [
  'password',
  'token',
  'api key',
  'Cookie',
  'authorization',
  'x-api-key',
  'must',
  '=',
  ':',
  ': ',
  ' = ',
  '=>',
  '"',
  "'",
  '\\"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  '<',
  '>',
  ',',
  ';',
  '&',
  '?',
  ' ',
  '\n',
  '://',
  '@',
  'a@b.de',
  'bob',
  'hunter2',
  '4111 1111 1111 1111',
  '4111111111111111',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  'Bearer ',
  'Basic ',
  'abc123def456',
  'Ym9iOnN3b3JkZmlzaA==',
  '%3D',
  '%20',
  '%25',
  '%22',
  '&quot;',
  'eyJhbGciOiJIUzI1NiJ9',
  '.',
  '--',
  '--token ',
  '10.1.2.3',
  '::1',
  'fe80::1',
  '[scrubbed]',
  'é',
  '😀',
  '-',
  '_',
  '/',
  'x',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((parts) => parts.join(''));
const name = fc.oneof(
  text,
  fc.constantFrom(
    'password',
    'user',
    'request',
    'vars',
    'name',
    'value',
    'context_line',
    'context_pre',
    'kty',
    'd',
    '__proto__',
    'title',
    'message',
  ),
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof({ maxDepth: 5 }, text, fc.double(), fc.boolean(), fc.constant(null), tie('list'), tie('members')),
  list: fc.array(tie('json'), { maxLength: 4 }),
  members: fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }),
}));

type Shape = string | Shape[];
function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value !== null && typeof value === 'object') return Object.values(value).map(shapeOf);
  // A number under the name of a secret gives way to a text.
  return value === null || typeof value === 'boolean' ? String(value) : 'text';
}

const runs = { numRuns: 3_000 };

test('the second time there is nothing left to find', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(scrubEvent(scrubEvent(value))).toEqual(scrubEvent(value));
    }),
    runs,
  );
});

test('a marker within a name under a name of a secret does not make it long', () => {
  const once = scrubEvent({ password: { 'a@b.de%22,=': '' } });
  expect(once).toEqual({ password: { '[scrubbed]%22,=': '' } });
  expect(scrubEvent({ password: { '\na@b.de%22,=': '' } })).toEqual({ password: { '\n[scrubbed]%22,=': '' } });
  expect(scrubEvent(scrubEvent({ password: { '\na@b.de%22,=': '' } }))).toEqual({
    password: { '\n[scrubbed]%22,=': '' },
  });
});

test('the shape stays and what was given is not changed', () => {
  fc.assert(
    fc.property(json, (value) => {
      const before = JSON.stringify(value);
      expect(shapeOf(scrubEvent(value))).toEqual(shapeOf(value));
      expect(JSON.stringify(value)).toBe(before);
    }),
    runs,
  );
});

test('a secret between any texts is found', () => {
  const secret = ['gh', 'p_', 'x7Kq2mWv9ZtB4nRj8LsP3cYd6HfG1aTe5UoQ'].join('');
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(scrubEvent({ message: `${before} ${secret} ${after}` }).message).not.toContain(secret.slice(4));
    }),
    runs,
  );
});

test('deeper than any event may be: cut, not thrown', () => {
  let deep: unknown = 'password=hunter2';
  for (let i = 0; i < 20_000; i += 1) deep = i % 2 === 0 ? [deep] : { a: deep };
  expect(JSON.stringify(scrubEvent(deep))).not.toContain('hunter2');
});
