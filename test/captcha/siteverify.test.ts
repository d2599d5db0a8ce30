// Server code written for reCAPTCHA, hCaptcha or Turnstile: the address is changed, nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client } from '../support/service.ts';
import { CaptchaBench } from './harness.ts';

let bench: CaptchaBench;
let secret: string;
beforeAll(async () => {
  bench = await CaptchaBench.start();
  secret = await bench.key('captcha.verify');
});
afterAll(() => bench.service.stop());

const URL_ENCODED = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (body: string | object, headers: Record<string, string> = {}) =>
  client(bench.service.url)('POST', '/v1/captcha/siteverify', body, headers);
const form = (fields: Record<string, string>) => post(new URLSearchParams(fields).toString(), URL_ENCODED);

test.each<[string, (response: string) => ReturnType<typeof post>]>([
  ['a form', (response) => form({ secret, response, remoteip: '192.0.2.7' })],
  ['JSON', (response) => post({ secret, response, remoteip: '192.0.2.7' })],
  ['a bearer key', (response) => post({ response }, { authorization: `Bearer ${secret}` })],
  [
    'Basic',
    (response) => post({ response }, { authorization: `Basic ${Buffer.from(`site:${secret}`).toString('base64')}` }),
  ],
])('%s: right once, then a duplicate', async (_how, send) => {
  const response = await bench.solved({ action: 'signup', hostname: 'www.example.com' });
  const { status, body } = await send(response);
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    'error-codes': [],
    hostname: 'www.example.com',
    action: 'signup',
    difficulty: 'easy',
    challenge_id: expect.stringMatching(/^cap_/),
    challenge_ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
  });
  expect((await send(response)).body).toMatchObject({ success: false, 'error-codes': ['timeout-or-duplicate'] });
});

test.each<[string, () => Record<string, string>, string]>([
  ['no secret', () => ({ response: 'AAAA' }), 'missing-input-secret'],
  ['a secret that is none', () => ({ secret: 'nonsense', response: 'AAAA' }), 'invalid-input-secret'],
  ['no response', () => ({ secret }), 'missing-input-response'],
  ['an empty response', () => ({ secret, response: '' }), 'missing-input-response'],
  ['a response that is none', () => ({ secret, response: 'AAAA' }), 'invalid-input-response'],
  ['a response of 5,000 characters', () => ({ secret, response: 'A'.repeat(5_000) }), 'invalid-input-response'],
  ['an action out of bounds', () => ({ secret, response: 'AAAA', action: 'two words' }), 'bad-request'],
])('%s', async (_what, fields, code) => {
  for (const { status, body } of [await form(fields()), await post(fields())]) {
    expect([status, body.success, body['error-codes']]).toEqual([200, false, [code]]);
  }
});

test('the action is compared where it is sent', async () => {
  const response = await bench.solved({ action: 'signup' });
  expect((await form({ secret, response, action: 'login' })).body['error-codes']).toEqual(['action-mismatch']);
  expect((await form({ secret, response, action: 'signup' })).body.success).toBe(true);
});

test('a key for pages verifies nothing, and says why', async () => {
  const { status, body } = await form({ secret: await bench.key('captcha.challenge'), response: 'AAAA' });
  expect([status, body['error-codes'], body.code]).toEqual([200, ['invalid-input-secret'], 'INSUFFICIENT_SCOPE']);
});

test.each(['[', '[]', '"text"', 'null', '{"secret":{}}'])('the JSON body %s is answered', async (text) => {
  const { status, body } = await post(text, { 'content-type': 'application/json' });
  expect([status, body.success]).toEqual([200, false]);
});

test('a body beyond the bound is refused unread', async () => {
  expect((await form({ secret, response: 'A'.repeat(20_000) })).status).toBe(413);
});
