// Work that is charged when it is done: what fails costs nothing and holds nothing, whether its price was held before it or not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chargeForWork } from '../../src/core/wallet/charge/charge.ts';
import { AnswerEffect } from '../../src/core/wallet/charge/charge-answer.ts';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import type { CallContext } from '../../src/kit/services.ts';
import { problem } from '../../src/problems/problem.ts';
import { QUERY_NANOS, VectorBench } from './harness.ts';

let shared: VectorBench;
beforeAll(async () => {
  shared = await VectorBench.start();
});
afterAll(() => shared.service.stop());

const HELD = 'SELECT held_nanos::int AS number FROM core.wallet WHERE account_id = $account';
const ACTIVE = `SELECT count(*)::int AS number FROM core.hold WHERE account_id = $account AND status = 'active'`;

const called = { capability: 'vector.query', scope: 'read', priceEntry: 'vector.query' };

async function charge(bench: VectorBench, holdFirst: boolean, work: () => Promise<string>, core = bench.service.core) {
  const { accountId, secret } = bench.account;
  const key = await core.keys.find(secret);
  const ctx = { core, accountId, principal: key, ...called, requestId: 'req_test', approval: null, idempotency: null };
  const price = { units: 1n, effect: new AnswerEffect('vector.query') };
  return chargeForWork(ctx as unknown as CallContext, { ...price, sequences: 0, bytes: 100, rows: 1 }, holdFirst, work);
}

describe.each([
  ['charged afterwards', false],
  ['held before', true],
])('%s', (_, holdFirst) => {
  test('work that fails costs nothing, and its reason is told', async () => {
    const bench = await shared.withAccount(1);
    const work = async () => {
      expect(await bench.number(HELD)).toBe(holdFirst ? Number(QUERY_NANOS) : 0);
      throw problem('SERVICE_UNAVAILABLE');
    };
    await expect(charge(bench, holdFirst, work)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await bench.spentNanos()).toBe(0n);
    expect([await bench.number(HELD), await bench.number(ACTIVE)]).toEqual([0, 0]);
  });

  test('work that is done is charged once and answered', async () => {
    const bench = await shared.withAccount(1);
    const answer = await charge(bench, holdFirst, async () => '{"a":1}');
    expect(answer).toMatchObject({ data: { text: '{"a":1}' }, costNanos: QUERY_NANOS, replayed: false });
    expect(await bench.spentNanos()).toBe(QUERY_NANOS);
    expect([await bench.number(HELD), await bench.number(ACTIVE)]).toEqual([0, 0]);
  });

  test('without the money nothing is answered; what was held first is not even begun', async () => {
    const bench = await shared.withAccount(0);
    let begun = false;
    const work = async () => {
      begun = true;
      return '{}';
    };
    await expect(charge(bench, holdFirst, work)).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDIT' });
    expect(begun).toBe(!holdFirst);
    expect(await bench.spentNanos()).toBe(0n);
  });
});

test('a process that dies between hold and charge has charged nothing: the hold ends by itself', async () => {
  const bench = await shared.withAccount(1);
  const never = new Promise<string>(() => undefined);
  void charge(bench, true, () => never);
  await expect.poll(() => bench.number(HELD)).toBe(Number(QUERY_NANOS));
  await bench.service.advance(61);
  await expect.poll(() => bench.number(HELD)).toBe(0);
  expect(await bench.spentNanos()).toBe(0n);
});

test('an answer waits in the lane with its whole length; an account has a share of what may wait', async () => {
  const [bench, other] = [await shared.withAccount(1), await shared.withAccount(1)];
  const { core } = bench.service;
  // Known keys cost no read, so the four arrive in their order.
  for (const { account } of [bench, other]) await core.keys.find(account.secret);
  const small = { ...core, lanes: new Lanes({ db: core.db, log: core.log, bytesMax: 1_000 }) };
  const answer = (characters: number) => async () => 'x'.repeat(characters);
  const outcomes = await Promise.allSettled([
    charge(bench, false, answer(400), small),
    charge(bench, false, answer(10), small),
    charge(other, false, answer(10), small),
    charge(other, false, answer(900), small),
  ]);
  const told = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'answered' : outcome.reason.code));
  expect(told).toEqual(['answered', 'CONCURRENCY_LIMITED', 'answered', 'OVERLOADED']);
  expect(await bench.spentNanos()).toBe(QUERY_NANOS);
  await charge(bench, false, answer(10), small);
});
