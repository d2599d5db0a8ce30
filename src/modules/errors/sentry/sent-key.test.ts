import { expect, test } from 'vitest';
import { mintSecret } from '../../../core/keys/api-key.ts';
import { Secrets } from '../../../core/secrets/secrets.ts';
import type { RawHead } from '../../../kit/raw-route.ts';
import { keyOfDsn, keyOfHead } from './sent-key.ts';

const head = (query: string, headers: Record<string, string> = {}): RawHead => ({
  method: 'POST',
  params: {},
  query: new URLSearchParams(query),
  headers,
  remoteAddress: '192.0.2.1',
  url: '/',
  routed: '/',
  failureMetadata: () => null,
  requestId: 'req_1',
});

test('an API key is the public key of a DSN as it is: the pattern of the JavaScript SDKs takes it whole', () => {
  const { secret } = mintSecret(new Secrets('a server secret of tests'));
  const pattern = /^(?:(\w+):)\/\/(?:(\w+)(?::(\w+)?)?@)((?:\[[:.%\w]+\]|[\w.-]+))(?::(\d+))?\/(.+)/;
  expect(pattern.exec(`https://${secret}@qm.example/v1/errors/sentry/1`)?.slice(1, 3)).toEqual(['https', secret]);
});

test.each<[string, RawHead, string | null]>([
  ['query', head('sentry_key=k&sentry_version=7'), 'k'],
  ['empty in the query', head('sentry_key='), null],
  ['query before headers', head('sentry_key=k', { 'x-sentry-auth': 'Sentry sentry_key=h' }), 'k'],
  ['X-Sentry-Auth', head('', { 'x-sentry-auth': 'Sentry sentry_version=7, sentry_key=k, sentry_client=a' }), 'k'],
  [
    'in quotes, in any case, without spaces',
    head('', { 'x-sentry-auth': 'sentry sentry_version=7,sentry_key="k"' }),
    'k',
  ],
  ['Authorization', head('', { authorization: 'Sentry sentry_key=k' }), 'k'],
  ['bearer', head('', { authorization: 'Bearer k' }), 'k'],
  ['another scheme', head('', { authorization: 'Basic sentry_key=k' }), null],
  ['no key', head('', { 'x-sentry-auth': 'Sentry sentry_version=7' }), null],
  ['too long', head('', { 'x-sentry-auth': `Sentry ${'a'.repeat(3_000)}, sentry_key=k` }), null],
  ['nothing', head(''), null],
])('the key by %s', (_how, sent, expected) => {
  expect(keyOfHead(sent)).toBe(expected);
});

test.each([
  ['https://k@qm.example/v1/errors/sentry/1', 'k'],
  ['https://k:secret@qm.example/1', 'k'],
  ['https://qm.example/1', null],
  ['k', null],
  [undefined, null],
  [{}, null],
])('the key of the DSN %j', (dsn, expected) => {
  expect(keyOfDsn(dsn)).toBe(expected);
});
