// Payloads that no solver makes: each is an answer, in little time, and forged parameters are never worked with.
import { createHash } from 'node:crypto';
import { createChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CaptchaBench, payloadOf, readPayload } from './harness.ts';

let bench: CaptchaBench;
let right: string;
beforeAll(async () => {
  bench = await CaptchaBench.start();
  right = await bench.solved({ action: 'signup' });
});
afterAll(() => bench.service.stop());

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
const forged = (change: (payload: any) => void) => {
  const payload = readPayload(right);
  change(payload);
  return payloadOf(payload);
};
const nested = (depth: number) => Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`).toString('base64');

test.each<[string, () => string]>([
  ['no base64', () => '%%%'],
  ['base64 of the web', () => `${right.replaceAll('=', '')}_-`],
  ['no JSON', () => Buffer.from('{').toString('base64')],
  ['null', () => base64(null)],
  ['a number', () => base64(1)],
  ['an empty object', () => base64({})],
  ['a list', () => base64([[], []])],
  ['parameters that are a list', () => forged((payload) => (payload.challenge.parameters = []))],
  ['no solution', () => forged((payload) => (payload.solution = null))],
  ['a signature that is no text', () => forged((payload) => (payload.challenge.signature = 1))],
  ['a signature of other letters', () => forged((payload) => (payload.challenge.signature = 'é'.repeat(64)))],
  ['no signature', () => forged((payload) => (payload.challenge.signature = ''))],
  ['deep nesting', () => nested(300)],
  [
    'deep parameters',
    () =>
      base64({
        challenge: { parameters: JSON.parse(Buffer.from(nested(300), 'base64').toString()), signature: '' },
        solution: {},
      }),
  ],
  ['a cost of a billion', () => forged((payload) => (payload.challenge.parameters.cost = 1e9))],
  ['another end', () => forged((payload) => (payload.challenge.parameters.expiresAt += 3_600))],
  ['an end that is over, forged', () => forged((payload) => (payload.challenge.parameters.expiresAt = 1))],
  ['another action', () => forged((payload) => (payload.challenge.parameters.data.action = 'login'))],
  ['another algorithm', () => forged((payload) => (payload.challenge.parameters.algorithm = 'SHA-256'))],
  ['a parameter more', () => forged((payload) => (payload.challenge.parameters.memoryCost = 1))],
  [
    'a prototype',
    () =>
      right.replace(/^.*$/s, () =>
        Buffer.from(
          JSON.stringify(readPayload(right)).replace('"parameters":{', '"parameters":{"__proto__":{},'),
        ).toString('base64'),
      ),
  ],
  ['another key', () => forged((payload) => (payload.solution.derivedKey = '00'.repeat(32)))],
  [
    'a key in capitals',
    () => forged((payload) => (payload.solution.derivedKey = payload.solution.derivedKey.toUpperCase())),
  ],
  ['a key that is a list', () => forged((payload) => (payload.solution.derivedKey = [payload.solution.derivedKey]))],
  ['a counter that is no number', () => forged((payload) => (payload.solution.counter = '1'))],
  [
    'the key of the prefix',
    () => forged((payload) => (payload.solution.derivedKey = payload.challenge.parameters.keyPrefix)),
  ],
])('%s is invalid', async (_what, make) => {
  const before = process.cpuUsage();
  expect(await bench.verify(make())).toMatchObject({ success: false, reason: 'invalid' });
  const { user, system } = process.cpuUsage(before);
  // A derivation of a forged cost would take minutes.
  expect(user + system).toBeLessThan(5_000_000);
});

test('a challenge that somebody else signed is invalid', async () => {
  const key = createHash('sha256').update(bench.accountId).digest('hex');
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    deriveKey,
    cost: 1,
    counter: 1,
    hmacSignatureSecret: key,
    hmacKeySignatureSecret: key,
    expiresAt: Math.floor(Date.now() / 1_000) + 600,
  });
  expect(await bench.verify(payloadOf({ challenge, solution: { counter: 1, derivedKey: 'ab' } }))).toMatchObject({
    reason: 'invalid',
    challenge_id: null,
  });
});

test.each([
  ['payload', { payload: 'A'.repeat(4_097) }],
  ['payload', { payload: '' }],
  ['payload', { payload: {} }],
  ['payload', {}],
  ['action', { payload: 'AAAA', action: 'two words' }],
])('a %s out of bounds is refused by name', async (param, body) => {
  expect((await bench.call('POST', '/v1/captcha/verify', body)).body.error).toMatchObject({
    code: 'VALIDATION_FAILED',
    param,
  });
});

test('after all of this the right solution still counts', async () => {
  expect(await bench.verify(right, { action: 'signup' })).toMatchObject({ success: true });
});
