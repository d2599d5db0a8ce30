// The address that widgets load: any page may, with a key that can do nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client } from '../support/service.ts';
import { CaptchaBench, payloadOf, solutionOf } from './harness.ts';

let bench: CaptchaBench;
let key: string;
beforeAll(async () => {
  bench = await CaptchaBench.start();
  key = await bench.key('captcha.challenge');
});
afterAll(() => bench.service.stop());

const get = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  client(bench.service.url)('GET', `/v1/captcha/altcha?${new URLSearchParams(query)}`, undefined, headers);

test('the bare challenge, for any page, which is named in it', async () => {
  const query = { key, action: 'signup', difficulty: 'easy', expires_seconds: '60' };
  const { status, headers, body } = await get(query, { origin: 'https://www.example.com:8443' });
  expect([status, headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([
    200,
    '*',
    'no-store',
  ]);
  expect(Object.keys(body)).toEqual(['parameters', 'signature']);
  const payload = payloadOf({ challenge: body, solution: await solutionOf(body) });
  expect(await bench.verify(payload, { action: 'signup' })).toMatchObject({
    success: true,
    hostname: 'www.example.com',
  });
});

test.each(['null', 'file://', 'nonsense', '', 'https://x y'])('an origin %j names no page', async (origin) => {
  const { status, body } = await get({ key, difficulty: 'easy' }, { origin });
  expect([status, body.parameters.data.hostname]).toEqual([200, undefined]);
});

test('a preflight is answered', async () => {
  const { status, headers } = await client(bench.service.url)('OPTIONS', '/v1/captcha/altcha');
  expect([status, headers.get('access-control-allow-methods')]).toEqual([204, 'GET, OPTIONS']);
});

test.each([['captcha'], ['captcha.challenge', 'captcha.verify'], ['captcha:read'], ['queue']])(
  'a key with %s is refused, and the right one named',
  async (...scopes) => {
    const { status, body, headers } = await get({ key: await bench.key(...scopes) });
    expect([status, body.code, headers.get('access-control-allow-origin')]).toEqual([403, 'INSUFFICIENT_SCOPE', '*']);
    expect(body.error).toContain('--scopes captcha.challenge');
  },
);

test.each([
  [{}, 401, 'UNAUTHORIZED'],
  [{ key: 'nonsense' }, 401, 'INVALID_API_KEY'],
])('%j has no key: %i', async (query, status, code) => {
  const reply = await get(query);
  expect([reply.status, reply.body.code]).toEqual([status, code]);
});

test.each([
  ['difficulty', 'none'],
  ['expires_seconds', '59'],
  ['expires_seconds', '1e9'],
  ['expires_seconds', 'soon'],
  ['action', 'two words'],
  ['action', ''],
])('a wrong %s is named: %j', async (param, value) => {
  const { status, body } = await get({ key, [param]: value });
  expect([status, body.code, body.param]).toEqual([400, 'VALIDATION_FAILED', param]);
});
