import { expect, test } from 'vitest';
import { endingCookie, openingCookie, sentToken } from './session-cookie.ts';
import { localPath, pathTo, signInAgain, signInFirst } from './visitor.ts';

test.each([
  ['/console', '/console'],
  ['/console/errors/x?a=1&b=%2F', '/console/errors/x?a=1&b=%2F'],
  ['/a/../b', '/b'],
  ['/x#part', '/x'],
])('%s leads to a page of this service', (text, path) => {
  expect(localPath(text)).toBe(path);
});

test.each([
  null,
  '',
  'console',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/..//evil.example',
  '/\t/evil.example',
  '/%00\n',
  '/a b',
  '/\u2028x',
  `/${'x'.repeat(1_000)}`,
])('%j leads nowhere: it is no path of this service', (text) => {
  expect(localPath(text)).toBeNull();
});

test('the way to sign in and back keeps the path below which the service lies', () => {
  expect(pathTo({ baseUrl: 'https://example.org/qm' }, '/auth')).toBe('/qm/auth');
  const { headers } = signInFirst({ baseUrl: 'https://example.org/qm' }, { url: '/device?code=A' });
  expect(headers.location).toBe('/qm/auth?return_to=%2Fqm%2Fdevice%3Fcode%3DA');
  const again = signInAgain({ baseUrl: 'http://127.0.0.1' }, { url: '/auth/account' });
  expect(again.headers.location).toBe('/auth?again=1&return_to=%2Fauth%2Faccount');
});

test('over https the cookie has the name that no other host may set, and over http the plain one', () => {
  expect(openingCookie('https://example.org/qm', 'x')).toBe(
    '__Host-qm_session=x; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax',
  );
  expect(openingCookie('http://127.0.0.1:8787', 'x')).toBe(
    'qm_session=x; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax',
  );
  expect(endingCookie('http://127.0.0.1:8787')).toBe('qm_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
});

test('the session is found among other cookies, by the name of its kind of address only', () => {
  expect(sentToken('http://127.0.0.1', 'a=1; qm_session=tok; b=2')).toBe('tok');
  expect(sentToken('https://example.org', 'qm_session=forged; __Host-qm_session=tok')).toBe('tok');
  expect(sentToken('https://example.org', 'qm_session=forged')).toBeNull();
  expect(sentToken('http://127.0.0.1', 'xqm_session=1;qm_session=')).toBeNull();
  expect(sentToken('http://127.0.0.1', undefined)).toBeNull();
});
