// Concurrent calls of one account on two processes: of every call the counts are those of a model that goes through the decisions in the
// order in which they were charged. Nothing is lost, nothing counted twice, and what was charged is what was counted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { sequenceMs } from '../../src/lib/sequence.ts';
import { type Pair, startPair } from '../faults/pair.ts';
import { isSoak } from '../support/soak.ts';
import type { Data } from './harness.ts';
import { CountModel } from './model.ts';

const CALLS = isSoak ? 6_000 : 600;
const AT_ONCE = 48;
const names = { ip: 'ip', email: 'email', user: 'user_id', device: 'device_id' } as const;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ RATE_LIMITS: 'off', TEST_CLOCK: 'on' });
});
afterAll(() => pair.stop());

/** Few of each, so that calls meet; one in five without each of the keys. */
function callOf(i: number): Record<string, string> {
  const pick = (salt: number, of: number) => (Math.imul(i + 7, 2_654_435_761 + salt) >>> 8) % of;
  const sent = {
    ip: `198.51.100.${pick(1, 5)}`,
    email: `m${pick(2, 7)}@example.org`,
    user_id: `u${pick(3, 6)}`,
    device_id: `d${pick(4, 4)}`,
  };
  const kept = Object.entries(sent).filter(([name], at) => name === 'ip' || pick(10 + at, 5) > 0);
  return Object.fromEntries(kept);
}

test(`${CALLS} calls at once on two processes count one after the other`, { timeout: 600_000 }, async () => {
  const { accountId, callers } = await pair.account(10);
  const done: { input: Record<string, string>; answer: Data }[] = [];
  const waiting = Array.from({ length: CALLS }, (_, i) => i);
  const worker = async (at: number) => {
    for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
      const input = callOf(i);
      const { status, body } = await (callers[at % 2] as (typeof callers)[0])('POST', '/v1/risk/score', {
        event: 'login',
        ...input,
      });
      expect(status, JSON.stringify(body)).toBe(200);
      done.push({ input, answer: body.data });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => worker(at)));
  // Ids begin with the sequence number of the account.
  done.sort((a, b) => (a.answer.risk_id < b.answer.risk_id ? -1 : 1));
  const model = new CountModel();
  const at = await timesOf(accountId);
  for (const [n, { input, answer }] of done.entries()) {
    const expected = model.count(input, at[n] as number);
    for (const [kind, field] of Object.entries(names)) {
      const told = answer.signals[kind];
      if (input[field] === undefined) expect(told).toBeNull();
      else expect(told, `call ${n}, ${kind}`).toMatchObject(expected[kind] as object);
    }
  }
  expect(at).toHaveLength(CALLS);
  expect((await acceptedUnits(pair.db, accountId)).get('risk.score')).toBe(BigInt(CALLS));
  const { body } = await callers[0]('GET', '/v1/account/balance');
  expect(body.data.balance_usd).toBeCloseTo(10 - CALLS * 0.0005, 9);
  // What is kept says the same as what was answered.
  const last = done.at(-1) as (typeof done)[0];
  const { body: shown } = await callers[1]('GET', `/v1/risk/subject?ip=${last.input.ip}`);
  const ofLast = done.filter(({ input }) => input.ip === last.input.ip);
  expect(shown.data.counts.count_30d).toBe(ofLast.length);
  const users = new Set(ofLast.flatMap(({ input }) => input.user_id ?? []));
  expect(shown.data.linked.users.count).toBe(users.size);
  expect(shown.data.linked.users.keys).toHaveLength(users.size);
});

/** When each call was charged, by the database's clock, in their order: sequence numbers hold it. */
async function timesOf(accountId: string): Promise<number[]> {
  const text = 'SELECT d.seq FROM risk.decision d WHERE d.account_id = $1 ORDER BY d.seq';
  const { rows } = await pair.db.query<{ seq: bigint }>({ name: '', text }, [accountId]);
  return rows.map(({ seq }) => sequenceMs(seq));
}
