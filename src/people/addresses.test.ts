import { expect, test } from 'vitest';
import { mailAddress, normalisedAddress, wideNetworkOf } from './addresses.ts';

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

test.each([
  ['Ada@Example.ORG', 'ada@example.org'],
  ['ada+shop@example.org', 'ada@example.org'],
  ['ada+a+b@example.org.', 'ada@example.org'],
  ['a.d.a+x@gmail.com', 'ada@gmail.com'],
  ['A.da@GoogleMail.com', 'ada@gmail.com'],
  ['a.da@example.org', 'a.da@example.org'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
  ['ａｄａ@example.org', 'ada@example.org'],
  ['+tag@example.org', '+tag@example.org'],
  ['"a@b"@example.org', '"a@b"@example.org'],
])('%s is the mailbox %s', (address, mailbox) => {
  expect(normalisedAddress(address)).toBe(mailbox);
});

test.each(['', 'ada', '@example.org', 'ada@', 'ada@exa mple.org'])('%j is no address', (text) => {
  expect(normalisedAddress(text)).toBeNull();
});

test.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.9', '203.0.113.0/24'],
  ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
  ['127.0.0.1', null],
  ['::1', null],
  ['::ffff:127.0.0.1', null],
])('%s counts for %s', (address, network) => {
  expect(wideNetworkOf(address)).toBe(network);
});
