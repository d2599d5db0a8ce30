// A process is killed while it scores: of every call its count, its decision and its charge are all there, or none of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { type Pair, startPair } from '../faults/pair.ts';
import { startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';
import { rounds } from '../support/soak.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ RATE_LIMITS: 'off' });
});
afterAll(() => pair.stop());

const KILLS = rounds(20);

test(`${KILLS} kills: counts, decisions and charges agree`, { timeout: 600_000 }, async () => {
  const { accountId, secret } = await pair.account(20);
  let victim = pair.services[1];
  let answered = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const call = client(victim.url, secret);
    const before = answered;
    let isDead = false;
    const worker = async () => {
      while (!isDead) {
        const reply = await call('POST', '/v1/risk/score', { event: 'login', user_id: 'u', ip: '198.51.100.1' }).catch(
          () => null,
        );
        if (reply?.status === 200) answered += 1;
      }
    };
    const workers = Array.from({ length: 16 }, worker);
    await expect.poll(() => answered - before, { timeout: 60_000, interval: 5 }).toBeGreaterThan(20 + kill * 7);
    await victim.end('SIGKILL');
    isDead = true;
    await Promise.all(workers);
    victim = await startProcess(victim.place);
  }
  const { body } = await client(pair.services[0].url, secret)('GET', '/v1/risk/subject?user_id=u');
  const counted: number = body.data.counts.count_30d;
  const text = 'SELECT count(*)::int AS n FROM risk.decision d WHERE d.account_id = $1';
  const { rows } = await pair.db.query<{ n: number }>({ name: '', text }, [accountId]);
  expect(rows[0]?.n).toBe(counted);
  expect((await acceptedUnits(pair.db, accountId)).get('risk.score')).toBe(BigInt(counted));
  const { body: wallet } = await client(pair.services[0].url, secret)('GET', '/v1/account/balance');
  expect(wallet.data.balance_usd).toBeCloseTo(20 - counted * 0.0005, 9);
  // A call whose answer was lost may have been charged.
  expect(counted).toBeGreaterThanOrEqual(answered);
  expect(counted - answered).toBeLessThanOrEqual(KILLS * 16);
});
