// Member by member, an object is cleaned as `scrubEvent` cleans it whole.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrubMember, standsAlone } from './members.ts';
import { scrubEvent } from './scrub.ts';

const SECRETS = [
  '4111 1111 1111 1111',
  'Bearer abc123def456ghi',
  'password=hunter2',
  'ghp_0123456789abcdefghij',
  '-----BEGIN PRIVATE KEY-----',
];
const name = fc.oneof(
  fc.constantFrom(
    'password',
    'user_id',
    'user',
    'request',
    'vars',
    'email',
    'token_type',
    'api_key',
    'auth',
    'http.route',
    'pre_context',
  ),
  fc.constantFrom(
    'value',
    'name',
    'key',
    'kty',
    'd',
    'title',
    'message',
    '__proto__',
    'constructor',
    '4111111111111111',
  ),
  fc.string({ maxLength: 8 }),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...SECRETS,
    4111111111111111,
    'ada@example.org',
    '10.0.0.1',
    'authorization',
    'oct',
    '',
    12345,
  ),
  fc.string({ maxLength: 20 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const pairs = fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([of]) => of });

test('members whose names stand alone are cleaned as the whole is', () => {
  fc.assert(
    fc.property(pairs, (sent) => {
      const alone = sent.filter(([of]) => standsAlone(of));
      const one = Object.fromEntries(alone.map(([of, held]) => [of, scrubMember(of, held)]));
      expect(one).toEqual(scrubEvent(Object.fromEntries(alone)));
    }),
    { numRuns: 2_000 },
  );
});

test('names that say how others are read do not stand alone', () => {
  for (const each of ['value', 'val', 'kty', 'title', 'pre_context', 'ghp_0123456789abcdefghij'])
    expect(standsAlone(each), each).toBe(false);
  for (const each of ['password', 'http.route', 'user_id']) expect(standsAlone(each), each).toBe(true);
});
