// Five thousand rules of one account that are due in the same second: another account is looked at meanwhile, and what they take is bounded.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { LOOKS } from '../../src/modules/alerts/limits.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV } from './harness.ts';

const RULES = 5_000;
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
                sum(took_ms * 60 / every_seconds / spread)::float8 AS load
           FROM alerts.rule WHERE account_id = $1`,
};

const findSpread = {
  name: 'test_find_spread',
  text: 'SELECT rule FROM alerts.rule WHERE account_id = $1 AND spread > 1 LIMIT 1',
};

test(`${RULES} rules due in the same second`, { timeout: 400_000 }, async () => {
  const [many, other] = [await Alerts.at(service), await Alerts.at(service)];
  for (const own of [many, other]) {
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    await own.set({ when: { queue: { queue: 'jobs', measure: 'depth' } }, above: 1 });
    await own.looked();
  }
  const { accountId } = many.account;
  const { db } = service.core;
  await db.query(copyRules, [accountId, RULES - 1]);
  const nextStep = async () => {
    await service.advance(60);
    await db.transaction(async (tx) => openTurn(tx, accountId, LOOKS, await clockNow(tx)));
  };
  await nextStep();
  const step = new Date(Math.floor((await many.nowMs()) / 60_000) * 60_000);
  const read = async () => (await db.query<Record<string, number>>(standing, [accountId, step])).rows[0] ?? {};
  const before = process.cpuUsage();
  // Not behind all of them.
  await other.looked();
  expect((await read()).looked).toBeLessThan(RULES);
  await vi.waitFor(async () => expect((await read()).looked).toBe(RULES), { timeout: 300_000, interval: 200 });
  const { user, system } = process.cpuUsage(before);
  const { load = 0 } = await read();
  console.info(`${RULES} looks: ${(user + system) / 1e3} ms of processor time; ${load} ms of a minute`);
  // More than a second of looks a minute is spread over several, once it has been reckoned.
  const spread = async () => {
    await nextStep();
    expect((await read()).spread).toBeGreaterThan(0);
  };
  await vi.waitFor(spread, { timeout: 200_000, interval: 2_000 });
  const [slow] = (await db.query<{ rule: string }>(findSpread, [accountId])).rows;
  expect((await many.get(slow?.rule)).words).toContain('in place of every 60');
});
