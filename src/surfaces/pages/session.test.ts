import { expect, test } from 'vitest';
import { Secrets } from '../../core/secrets/secrets.ts';
import { endingCookie, openingCookie, openSession, SESSION_MS, sealSession, sentSession } from './session.ts';

const secrets = new Secrets('a secret of the tests, long enough to be one');
const key = 'qm_live_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ';

test('a session gives its key back until its time is over', () => {
  const token = sealSession(secrets, key, 1_000);
  expect(openSession(secrets, token, 999)).toBe(key);
  expect(openSession(secrets, token, 1_000)).toBeNull();
});

test('the token does not show the key, and is another one each time', () => {
  const token = sealSession(secrets, key, 1_000);
  const bytes = Buffer.from(token, 'base64url').toString('latin1');
  for (const part of [key, key.slice(8, 16), key.slice(-8)]) {
    expect(token).not.toContain(part);
    expect(bytes).not.toContain(part);
  }
  expect(sealSession(secrets, key, 1_000)).not.toBe(token);
});

test('a token changed in any byte opens nothing', () => {
  const bytes = Buffer.from(sealSession(secrets, key, 1_000), 'base64url');
  for (let i = 0; i < bytes.length; i += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    expect(openSession(secrets, changed.toString('base64url'), 0)).toBeNull();
  }
});

test('what is no token opens nothing, and what another server secret sealed', () => {
  const token = sealSession(secrets, key, 1_000);
  const texts = [
    '',
    'a',
    '=',
    'é',
    key,
    '0'.repeat(5_000),
    token.slice(0, -1),
    `${token}A`,
    token.slice(0, 60),
    `${token};`,
  ];
  for (const text of texts) expect(openSession(secrets, text, 0)).toBeNull();
  expect(openSession(new Secrets('another secret of the tests, as long'), token, 0)).toBeNull();
});

test('a text sealed for another purpose is no session', () => {
  const other = secrets.encrypt('webhook-secret', '', `${SESSION_MS} ${key}`).toString('base64url');
  expect(openSession(secrets, other, 0)).toBeNull();
});

test('the cookie is for the console of the base URL only, and secure where that is https', () => {
  expect(openingCookie('http://127.0.0.1:8787', 'x')).toBe(
    'qm_console=x; Path=/console; Max-Age=43200; HttpOnly; SameSite=Strict',
  );
  expect(openingCookie('https://example.org/qm/', 'x')).toBe(
    'qm_console=x; Path=/qm/console; Max-Age=43200; HttpOnly; SameSite=Strict; Secure',
  );
  expect(endingCookie('https://example.org')).toBe(
    'qm_console=; Path=/console; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
  );
});

test('the session is found among other cookies', () => {
  expect(sentSession('a=1; qm_console=tok; b=2')).toBe('tok');
  expect(sentSession('xqm_console=1;qm_console=')).toBeNull();
  expect(sentSession(undefined)).toBeNull();
});
