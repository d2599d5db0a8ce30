import { expect, test } from 'vitest';
import { isOwnHost } from './own-host.ts';

test.each<[string, string | undefined, string, boolean]>([
  ['its own name', 'qm.example', 'https://qm.example', true],
  ['its own name with a port', 'QM.example:443', 'https://qm.example', true],
  ['a loopback name, as a proxy on the machine sends it', '127.0.0.1:8787', 'https://qm.example', true],
  ['no name', undefined, 'https://qm.example', true],
  ['another name', 'evil.example', 'https://qm.example', false],
  ['a longer name', 'qm.example.evil.example', 'https://qm.example', false],
  ['an address', '192.0.2.1', 'https://qm.example', false],
  ['a name that leads to this machine', 'localhost.evil.example:8787', 'http://127.0.0.1:8787', false],
  ['localhost', 'localhost:8787', 'http://127.0.0.1:8787', true],
  ['an address where BASE_URL is not set', '192.0.2.1:8787', 'http://0.0.0.0:8787', true],
  ['a name where BASE_URL is not set', 'evil.example:8787', 'http://0.0.0.0:8787', false],
  ['what is no name', 'a b', 'https://qm.example', false],
])('pages and %s', (_, host, baseUrl, answers) => {
  expect(isOwnHost({ headers: host === undefined ? {} : { host } }, baseUrl)).toBe(answers);
});

test('a proxy that sends another Host tells the name as X-Forwarded-Host', () => {
  const of = (forwarded: string) => ({ headers: { host: 'upstream:8787', 'x-forwarded-host': forwarded } });
  expect(isOwnHost(of('qm.example'), 'https://qm.example')).toBe(true);
  expect(isOwnHost(of('evil.example'), 'https://qm.example')).toBe(false);
});
