// Who the numbers of events are: what a process knows of people that were joined and deleted, and how it is read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namedStatements } from '../../src/db/statement.ts';
import { DELETED, Joins } from '../../src/modules/analytics/people/joins.ts';
import { AnalyticsBench } from './harness.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

const { signal } = new AbortController();
const read = (joins: Joins, { service, account }: AnalyticsBench) =>
  joins.of(service.core.db, account.accountId, signal);

/** Aliases that were joined to person 1, one a change. */
async function addJoined(own: AnalyticsBench, from: number, until: number): Promise<void> {
  await own.service.core.db.query(
    {
      name: '',
      text: `INSERT INTO analytics.alias (account_id, distinct_id, number, person, changed)
             SELECT $1, 'joined ' || i, i, 1, i FROM generate_series($2::integer, $3::integer) i`,
    },
    [own.account.accountId, from, until],
  );
}

test('counts come from summaries again once what deleted people did has left the blocks', async () => {
  const own = await bench.withAccount();
  await own.capture({ items: ['u1', 'u2'].map((distinct_id) => ({ event: 'seen', distinct_id })) });
  const joins = new Joins();
  expect((await read(joins, own)).hasDeleted).toBe(false);
  await own.ok('DELETE', '/v1/analytics/person/delete/u1');
  const deleted = await read(joins, own);
  expect([deleted.hasDeleted, deleted.table.get(1, 1)]).toEqual([true, DELETED]);
  const total = async () => (await own.ask('trends', { events: ['seen'] })).series[0].total;
  expect(await total()).toBe(1);
  await own.sweep('erase');
  expect((await read(joins, own)).hasDeleted).toBe(false);
  expect((await read(new Joins(), own)).hasDeleted).toBe(false);
  expect(await total()).toBe(1);
});

test('joins are read page by page, and later only what has changed', async () => {
  const own = await bench.withAccount();
  const joins = new Joins();
  await addJoined(own, 2, 25_001);
  const first = await read(joins, own);
  expect([first.table.size, first.table.get(2, 2), first.table.get(25_001, 0)]).toEqual([25_000, 1, 1]);
  expect(await read(joins, own)).toEqual(first);
  await addJoined(own, 25_002, 25_011);
  const second = await read(joins, own);
  expect([second.table.size, second.table.get(25_011, 0), first.table.size]).toEqual([25_010, 1, 25_000]);
  const aborted = AbortSignal.abort(new Error('left'));
  await expect(joins.of(own.service.core.db, own.account.accountId, aborted)).rejects.toThrow('left');
});

// A distributed engine plans each run for its account.
test.skipIf(process.env.DISTRIBUTED === '1')(
  'what has changed is found by its index, whatever the plan is made for',
  async () => {
    const own = await bench.withAccount();
    await addJoined(own, 2, 20_000);
    const text = namedStatements.get('analytics_select_changed') as string;
    const plan = await own.service.core.db.transaction(async (tx) => {
      const run = <Row>(sql: string) => tx.query<Row>({ name: '', text: sql }, []);
      await run('SET LOCAL plan_cache_mode = force_generic_plan');
      await run(`PREPARE changed (text, bigint, integer) AS ${text}`);
      const { rows } = await run<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS OFF) EXECUTE changed('${own.account.accountId}', 19990, 19990)`,
      );
      await run('DEALLOCATE changed');
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('alias_changed');
  },
);
