import { expect, test } from 'vitest';
import { Secrets } from '../../../core/secrets/secrets.ts';
import { NumberSource } from './lenient.ts';
import { identityOf, UserHashes } from './user-identity.ts';

const nobody = { userId: null, contact: null };

test.each<[Record<string, unknown> | null, { userId: string | null; contact: string | null }]>([
  [null, nobody],
  [{}, nobody],
  [{ id: 'u-1' }, { userId: 'u-1', contact: null }],
  [
    { id: '', username: 'bo' },
    { userId: 'bo', contact: null },
  ],
  [{ id: 0 }, { userId: '0', contact: null }],
  [{ id: false }, { userId: 'false', contact: null }],
  [
    { id: ['u-1'], email: 'A@Example.org ' },
    { userId: null, contact: 'a@example.org' },
  ],
  [{ id: 'Bob@Example.org' }, { userId: null, contact: 'bob@example.org' }],
  [{ username: 'tenant 7 from 203.0.113.9' }, { userId: null, contact: 'tenant 7 from 203.0.113.9' }],
  [{ id: '2001:DB8::7' }, { userId: null, contact: '2001:db8::7' }],
  [{ id: '4111111111111111' }, { userId: '4111111111111111', contact: null }],
  [
    { email: '[Filtered]', ip_address: '203.0.113.9' },
    { userId: null, contact: '203.0.113.9' },
  ],
  [{ email: `${'x'.repeat(400)}@example.org` }, nobody],
  [
    { ip_address: '{{auto}}', ip: ' 203.0.113.9' },
    { userId: null, contact: '203.0.113.9' },
  ],
  [{ ip_address: '999.1.1.1' }, nobody],
])('the user %j', (user, expected) => {
  expect(identityOf(user, ['id', 'username'], new NumberSource(JSON.stringify({ user })))).toEqual(expected);
});

test('a hash depends on the server secret, the account and the address, and on nothing else', () => {
  const [hashes, others] = ['a', 'b'].map((letter) => new UserHashes(new Secrets(letter.repeat(32)))) as [
    UserHashes,
    UserHashes,
  ];
  const hash = hashes.of('acct_1', 'bob@example.org');
  expect(hash).toMatch(/^hashed_[\w-]{22}$/);
  expect(new UserHashes(new Secrets('a'.repeat(32))).of('acct_1', 'bob@example.org')).toBe(hash);
  const different = [
    others.of('acct_1', 'bob@example.org'),
    hashes.of('acct_2', 'bob@example.org'),
    hashes.of('acct_1', 'eve@example.org'),
  ];
  expect(new Set([hash, ...different]).size).toBe(4);
  for (let account = 0; account < 5_000; account += 1) hashes.of(`acct_many_${account}`, 'x');
  expect(hashes.of('acct_1', 'bob@example.org')).toBe(hash);
});
