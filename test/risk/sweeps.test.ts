// Retention: what is past its time goes, and what still counts stays.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Networks } from '../../src/modules/risk/signals/networks.ts';
import { riskSweeps } from '../../src/modules/risk/sweeps.ts';
import { sweepAll } from '../support/bench.ts';
import { RiskBench } from './harness.ts';

const DAY_SECONDS = 86_400;
let bench: RiskBench;
beforeAll(async () => {
  bench = await RiskBench.start();
});
afterAll(() => bench.stop());

const countRows = {
  name: '',
  text: `SELECT (SELECT count(*)::int FROM risk.window w WHERE w.account_id = $1) AS keys,
                (SELECT count(*)::int FROM risk.decision d WHERE d.account_id = $1) AS decisions,
                (SELECT count(*)::int FROM risk.entry e WHERE e.account_id = $1) AS entries`,
};

async function sweptRows() {
  const { core } = bench.service;
  const sweeps = riskSweeps({ core, networks: new Networks([], core.log) });
  for (const name of ['risk.decisions', 'risk.keys', 'risk.entries']) await sweepAll(sweeps, name);
  return (await core.db.query(countRows, [bench.accountId])).rows[0];
}

test('keys and decisions go after 30 days, entries at their end; all else stays and counts', async () => {
  await bench.score({ user_id: 'gone', ip: '198.51.100.1' });
  await bench.score({ user_id: 'kept', ip: '198.51.100.2' });
  const { body } = await bench.call('GET', '/v1/risk/decisions');
  const nowMs = Date.parse(body.data.items[0].created_at);
  const until = (days: number) => new Date(nowMs + days * DAY_SECONDS * 1_000).toISOString();
  await bench.data('POST', 'list/add', { list: 'block', kind: 'user', value: 'soon', expires_at: until(1) });
  await bench.data('POST', 'list/add', { list: 'block', kind: 'user', value: 'later', expires_at: until(60) });
  await bench.data('POST', 'list/add', { list: 'block', kind: 'user', value: 'always' });
  expect(await sweptRows()).toEqual({ keys: 4, decisions: 2, entries: 3 });
  await bench.service.advance(20 * DAY_SECONDS);
  await bench.score({ user_id: 'kept', ip: '198.51.100.2' });
  expect(await sweptRows()).toEqual({ keys: 4, decisions: 3, entries: 2 });
  await bench.service.advance(12 * DAY_SECONDS);
  expect(await sweptRows()).toEqual({ keys: 2, decisions: 1, entries: 2 });
  expect(await bench.subject({ user_id: 'gone' })).toMatchObject({ last_seen_at: null, counts: { count_30d: 0 } });
  expect(await bench.subject({ user_id: 'kept' })).toMatchObject({
    counts: { count_30d: 1 },
    linked: { ips: { count: 1 } },
  });
});
