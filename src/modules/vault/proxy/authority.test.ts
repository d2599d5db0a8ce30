import { expect, test } from 'vitest';
import { readAuthority } from './authority.ts';

test.each([
  ['api.example.org:443', 'api.example.org', 443],
  ['API.Example.ORG.:8443', 'api.example.org', 8443],
  ['xn--bcher-kva.example:443', 'xn--bcher-kva.example', 443],
  ['_srv.example.org:443', '_srv.example.org', 443],
  ['203.0.113.7:443', '203.0.113.7', 443],
  ['203.0.113.7.:443', '203.0.113.7', 443],
  ['[2001:DB8::0:7]:443', '2001:db8::7', 443],
  ['api.example.org', 'api.example.org', 80],
])('%s', (text, host, port) => {
  expect(readAuthority(text, 80)).toEqual({ host, port });
});

test.each([
  ...['', ':443', 'a b:443', 'user@a.example:443', 'a.example:443@b.example:443', 'a.example:0', 'a.example:65536'],
  ...['a.example:', 'a.example:443:443', 'a.example:+443', 'a.example/b:443', 'a.example\\b:443', 'a.example#:443'],
  // The URL standard reads these as addresses.
  ...['127.1:443', '0x7f.0.0.1:443', '2130706433:443', '0177.0.0.1:443'],
  ...['[::1:443', '::1:443', '[fe80::1%25eth0]:443', '[::ffff:999.0.0.1]:443', 'ä.example:443', 'a%2eexample:443'],
])('%j names no host', (text) => {
  expect(readAuthority(text, 80)).toBeNull();
});
