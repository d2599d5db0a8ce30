// Five thousand rules of one account that are due in the same second: another account is looked at meanwhile, and what they take is bounded.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { LOOKS } from '../../src/modules/alerts/limits.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV } from './harness.ts';

const RULES = Number(process.env.RULES ?? 5_000);
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ENV });
});
afterAll(() => service.stop());

const copyRules = {
  name: 'test_copy_rules',
  text: `INSERT INTO alerts.rule
         SELECT (jsonb_populate_record(r, jsonb_build_object('rule', 'r' || n))).* FROM alerts.rule r, generate_series(1, $2) n
          WHERE r.account_id = $1 AND r.rule = 'r'`,
};
const standing = {
  name: 'test_standing',
  text: `SELECT count(*) FILTER (WHERE looked_at >= $2)::int AS looked, count(*) FILTER (WHERE spread > 1)::int AS spread,
                sum(took_ms)::float8 AS took, sum(took_ms * 60 / every_seconds / spread)::float8 AS load
           FROM alerts.rule WHERE account_id = $1`,
};

test(`${RULES} rules due in the same second`, { timeout: 300_000 }, async () => {
  const [many, other] = [await Alerts.at(service), await Alerts.at(service)];
  for (const own of [many, other]) {
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    await own.set({ when: { queue: { queue: 'jobs', measure: 'depth' } }, above: 1 });
    await own.looked();
  }
  const { accountId } = many.account;
  const { db } = service.core;
  await db.query(copyRules, [accountId, RULES - 1]);
  await db.transaction(async (tx) => openTurn(tx, accountId, LOOKS, await clockNow(tx)));
  const rounds: { seconds: number; core: number; looked: number; otherAfter: number }[] = [];
  for (let round = 0; round < 2; round += 1) {
    await service.advance(60);
    const fromMs = Math.floor((await many.nowMs()) / 60_000) * 60_000;
    const [startMs, before] = [performance.now(), process.cpuUsage()];
    await other.looked();
    const otherAfter = performance.now() - startMs;
    let looked = 0;
    await vi.waitFor(
      async () => {
        const row = (await db.query<{ looked: number }>(standing, [accountId, new Date(fromMs)])).rows[0];
        looked = row?.looked ?? 0;
        const due = { name: 'test_due', text: 'SELECT count(*)::int AS due FROM alerts.rule WHERE account_id = $1 AND due_at <= core.clock_now()' };
        expect((await db.query<{ due: number }>(due, [accountId])).rows[0]?.due).toBe(0);
      },
      { timeout: 120_000, interval: 100 },
    );
    const { user, system } = process.cpuUsage(before);
    rounds.push({ seconds: (performance.now() - startMs) / 1_000, core: (user + system) / 1e6, looked, otherAfter });
  }
  const row = (await db.query<Record<string, number>>(standing, [accountId, new Date(0)])).rows[0];
  console.log(JSON.stringify({ rounds, row }));
  expect(rounds[0]?.looked).toBe(RULES);
  expect(row?.looked).toBe(RULES);
  const spread = (await many.get('r7')).words;
  if ((row?.spread ?? 0) > 0) expect(spread ?? 'Looked at every').toContain('Looked at every');
});
