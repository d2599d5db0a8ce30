import { expect, test } from 'vitest';
import { socketChannel } from './channels.ts';

const plain = { isPrivate: false, isPresence: false, isEncrypted: false, isCache: false, userId: null };

test.each([
  ['news', {}],
  ['private', {}],
  ['private-a', { isPrivate: true }],
  ['presence-a', { isPrivate: true, isPresence: true }],
  ['private-encrypted-a', { isPrivate: true, isEncrypted: true }],
  ['cache-a', { isCache: true }],
  ['private-cache-a', { isPrivate: true, isCache: true }],
  ['presence-cache-a', { isPrivate: true, isPresence: true, isCache: true }],
  ['private-encrypted-cache-a', { isPrivate: true, isEncrypted: true, isCache: true }],
  ['presence-encrypted-a', { isPrivate: true, isPresence: true }],
  ['#server-to-user-7', { userId: '7' }],
  ['#server-to-user-a b/é', { userId: 'a b/é' }],
])('%s', (name, traits) => expect(socketChannel(name)).toEqual({ ...plain, ...traits }));

test('of all bytes 69 may stand in a name', () => {
  const allowed = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).filter(
    (c) => socketChannel(c) !== null,
  );
  expect(allowed.join('')).toBe(',-.0123456789;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');
});

test.each([
  [''],
  ['a'.repeat(201)],
  ['#server-to-user-'],
  ['#a'],
  ['a b'],
  ['a\n'],
  [`#server-to-user-${'a'.repeat(129)}`],
  ['#server-to-user-\ud800'],
])('%j is no channel', (name) => expect(socketChannel(name)).toBeNull());
