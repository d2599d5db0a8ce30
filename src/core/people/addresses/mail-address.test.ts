import { expect, test } from 'vitest';
import { mailAddress } from './mail-address.ts';

test.each([
  [' Ada@Example.ORG ', 'ada@example.org'],
  ['ada+shop@bücher.example', 'ada+shop@xn--bcher-kva.example'],
  ['root@localhost', 'root@localhost'],
])('%j is known as %s', (text, address) => {
  expect(mailAddress(text)).toBe(address);
});

test.each([
  '',
  'ada',
  '@example.org',
  'ada@',
  'a b@example.org',
  'a@b@example.org',
  'ada@exa mple.org',
  'ada\r\nbcc:x@example.org',
  'ada@example.org\nx',
  '<ada@example.org>',
  'ada@example.org,eve@example.org',
  'eve@example.org;ada@example.org',
  `${'a'.repeat(65)}@example.org`,
  `a@${'b.'.repeat(130)}org`,
])('%j is no address that is written to', (text) => {
  expect(mailAddress(text)).toBeNull();
});
