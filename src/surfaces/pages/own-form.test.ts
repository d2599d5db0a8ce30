import { expect, test } from 'vitest';
import { isOwnForm, readForm } from './own-form.ts';

const base = 'https://errors.example.org/qm';

test.each([
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'none' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://errors.example.org' }, false],
  [{ origin: 'https://errors.example.org' }, true],
  [{ origin: 'http://10.0.0.7:8787', host: '10.0.0.7:8787' }, true],
  [{ origin: 'https://evil.example', host: 'errors.example.org' }, false],
  [{ origin: 'https://errors.example.org.evil.example', host: 'errors.example.org' }, false],
  [{ origin: 'null', host: 'null' }, false],
  [{ host: 'errors.example.org' }, false],
  [{}, false],
])('a form with the headers %o is taken: %s', (headers, taken) => {
  expect(isOwnForm(headers, base)).toBe(taken);
});

test('only what forms send is read as a form', () => {
  const body = Buffer.from('key=a%20b&action=');
  expect(readForm({ 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }, body).get('key')).toBe('a b');
  expect(readForm({ 'content-type': 'text/plain' }, body).get('key')).toBeNull();
  expect(readForm({}, body).get('key')).toBeNull();
});
