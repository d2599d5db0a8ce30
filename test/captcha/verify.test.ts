// Solutions: which count, that each counts once, whoever sends it how often, and that every verification is charged and told.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sweep } from '../../src/core/background/sweeper/sweep.ts';
import { captcha } from '../../src/modules/captcha/index.ts';
import { allEvents } from '../support/events.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { CaptchaBench, payloadOf, readPayload, solutionOf } from './harness.ts';

let bench: CaptchaBench;
beforeAll(async () => {
  bench = await CaptchaBench.start();
});
afterAll(() => bench.service.stop());

test.each(['easy', 'normal'] as const)('a solution of a challenge that is %s counts once', async (difficulty) => {
  const payload = await bench.solved({ difficulty, action: 'signup', hostname: 'www.example.com' });
  const right = await bench.verify(payload, { action: 'signup', difficulty });
  expect(right).toMatchObject({
    success: true,
    reason: 'ok',
    action: 'signup',
    difficulty,
    hostname: 'www.example.com',
  });
  expect(right.challenge_id).toMatch(/^cap_/);
  expect(await bench.verify(payload, { action: 'signup' })).toEqual({
    ...right,
    success: false,
    reason: 'replayed',
    verified_at: expect.any(String),
  });
});

test('a solution counts for its action, and is not used up by another', async () => {
  const payload = await bench.solved({ action: 'signup' });
  expect(await bench.verify(payload, { action: 'login' })).toMatchObject({ success: false, reason: 'action_mismatch' });
  expect(await bench.verify(payload, { action: 'signup' })).toMatchObject({ success: true });
  const unnamed = await bench.solved();
  expect(await bench.verify(unnamed, { action: 'login' })).toMatchObject({ reason: 'action_mismatch' });
  expect(await bench.verify(unnamed)).toMatchObject({ success: true, action: null });
});

test('an easier challenge than is asked for does not do', async () => {
  const payload = await bench.solved({ difficulty: 'easy' });
  expect(await bench.verify(payload, { difficulty: 'normal' })).toMatchObject({
    reason: 'invalid',
    difficulty: 'easy',
  });
});

test('a solution ends with its challenge, and what it has counted for is then forgotten', async () => {
  const timed = await CaptchaBench.start();
  try {
    const [used, late] = await Promise.all([
      timed.solved({ expires_seconds: 60 }),
      timed.solved({ expires_seconds: 60 }),
    ]);
    expect(await timed.verify(used)).toMatchObject({ reason: 'ok' });
    await timed.service.advance(61);
    expect(await timed.verify(late)).toMatchObject({ success: false, reason: 'expired' });
    expect(await timed.verify(used)).toMatchObject({ success: false, reason: 'expired' });
    const sweep = captcha.sweeps?.(timed.service.core)[0] as Sweep;
    await sweep.run(new AbortController().signal);
    expect(await timed.spent()).toEqual([]);
  } finally {
    await timed.service.stop();
  }
});

test('a solution counts for its own account alone', async () => {
  const other = await CaptchaBench.start(bench.service);
  expect(await other.verify(await bench.solved())).toMatchObject({ reason: 'invalid', challenge_id: null });
});

test('of a hundred calls with one solution on two processes exactly one is ok', async () => {
  const second = await startTestService({ database: bench.service.database });
  try {
    const beside = new CaptchaBench(second, bench);
    const payload = await bench.solved();
    const calls = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? bench : beside).verify(payload));
    const reasons = (await Promise.all(calls)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'ok')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === 'replayed')).toHaveLength(99);
  } finally {
    await second.stop();
  }
});

test('a repeat with one idempotency key has the first answer, for nothing', async () => {
  const payload = await bench.solved();
  const key = { 'idempotency-key': 'one-sign-up' };
  const replies = [await bench.call('POST', '/v1/captcha/verify', { payload }, key)];
  replies.push(await bench.call('POST', '/v1/captcha/verify', { payload }, key));
  expect(replies.map(({ body }) => body.data.reason)).toEqual(['ok', 'ok']);
  expect(replies.map(({ body }) => body.metadata.cost_usd)).toEqual([0.00001, 0]);
});

test('every verification costs the same and is told, whatever it finds', async () => {
  const own = await CaptchaBench.start(bench.service);
  const payload = await own.solved({ action: 'signup' });
  const wrong = payloadOf({ ...readPayload(payload), solution: { counter: 1, derivedKey: '00' } });
  const reasons = [];
  for (const [sent, action] of [
    [wrong, 'signup'],
    [payload, 'login'],
    [payload, 'signup'],
    [payload, 'signup'],
  ] as const) {
    const { body } = await own.call('POST', '/v1/captcha/verify', { payload: sent, action });
    expect(body.metadata.cost_usd).toBe(0.00001);
    reasons.push(body.data.reason);
  }
  expect(reasons).toEqual(['invalid', 'action_mismatch', 'ok', 'replayed']);
  const events = await allEvents(own.call);
  const told = events.filter(({ type }) => type.startsWith('captcha.')).reverse();
  expect(told.map(({ type, data }) => [type, data.object.reason])).toEqual([
    ...[
      ['captcha.failed', 'invalid'],
      ['captcha.failed', 'action_mismatch'],
    ],
    ...[
      ['captcha.verified', 'ok'],
      ['captcha.failed', 'replayed'],
    ],
  ]);
});

test('an account without credit verifies nothing, and its solution stays good', async () => {
  const poor = new CaptchaBench(bench.service, await createTestAccount(bench.service.core, 0));
  const payload = await poor.solved();
  expect(await poor.verify(payload)).toMatchObject({ status: 402, code: 'INSUFFICIENT_CREDIT' });
  expect(await poor.spent()).toEqual([]);
});

test('what is signed says what was asked for', async () => {
  const { parameters } = await bench.challenge({ difficulty: 'hard', action: 'a', expires_seconds: 60 });
  expect(parameters).toMatchObject({
    algorithm: 'PBKDF2/SHA-256',
    cost: 5_000,
    data: { action: 'a', difficulty: 'hard' },
  });
  const { created } = parameters.data as { created: number };
  expect(parameters.expiresAt).toBe(created + 60);
  const { counter } = await solutionOf(await bench.challenge({ difficulty: 'normal' }));
  expect(counter).toBeGreaterThanOrEqual(500);
  expect(counter).toBeLessThanOrEqual(1_000);
});
