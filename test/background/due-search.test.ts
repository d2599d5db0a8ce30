// The search of a process: what became due without a commit of this process is heard of, by one statement that reads by index.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { dueSearch } from '../../src/upkeep/due-search.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const LOOPS = [{ name: 'search.first' }, { name: 'search.second' }];
const TOPICS = ['due search.first', 'due search.second', 'due account.recharge', 'deliveries', 'events'];
const ROWS = 20_000;
const STOP = 'undo what was made due';

let service: TestService;
let accountId: string;
let heard: string[];
beforeAll(async () => {
  // Its own loops would take what is due.
  service = await startTestService({ env: { ROLES: 'web,render' } });
  ({ accountId } = await createTestAccount(service.core));
  for (const topic of TOPICS) service.core.db.onHint(topic, () => heard.push(topic));
});
afterAll(() => service.stop());
beforeEach(async () => {
  for (const table of ['turn', 'delivery_line', 'event_outbox']) await sql(`DELETE FROM core.${table}`);
  await sql('UPDATE core.wallet SET recharge_due_at = NULL');
  heard = [];
});

const sql = (text: string, values: (string | number)[] = []) => service.core.db.query({ name: '', text }, values);
const search = () => dueSearch(service.core.db, LOOPS).run(new AbortController().signal);

const openTurn = (work: string, due: string) =>
  `INSERT INTO core.turn (account_id, work, due_at, told) VALUES ($1, '${work}', now() ${due}, 1)`;
const openLine = (health: number, due: string) =>
  `INSERT INTO core.delivery_line (account_id, webhook_id, health, due_at) VALUES ($1, 'whk_${health}', ${health}, now() ${due})`;

test.each([
  ['due search.first', openTurn('search.first', '')],
  ['due search.second', openTurn('search.second', '')],
  ['deliveries', openLine(0, '')],
  ['deliveries', openLine(1, '')],
  ['deliveries', openLine(2, '')],
  ['due account.recharge', 'UPDATE core.wallet SET recharge_due_at = now() WHERE account_id = $1'],
  [
    'events',
    `INSERT INTO core.event_outbox (account_id, created_at, event_id, type, data) VALUES ($1, now(), 'evt_1', 'test', '{}')`,
  ],
])('%s is heard of: %s', async (topic, makeDue) => {
  await sql(makeDue, [accountId]);
  await search();
  expect(heard).toEqual([topic]);
});

test.each([
  ['later', openTurn('search.first', `+ interval '1 hour'`)],
  ['of work that runs nowhere', openTurn('search.unknown', '')],
])('nothing is heard of what is due %s', async (_, makeDue) => {
  await sql(makeDue, [accountId]);
  await search();
  expect(heard).toEqual([]);
});

// A distributed engine makes its plan at each execution.
test.skipIf(process.env.DISTRIBUTED === '1').each(['force_generic_plan', 'force_custom_plan'])(
  'it reads by index: %s',
  async (mode) => {
    const plan = service.core.db.hot.transaction(async (tx) => {
      const raw = (text: string) => tx.query<{ 'QUERY PLAN': string }>({ name: '', text }, []);
      await raw(`INSERT INTO core.turn (account_id, work, due_at, told)
               SELECT 'acc_' || n, 'search.first', now() + n * interval '1 minute', 1 FROM generate_series(1, ${ROWS}) n`);
      await raw(`INSERT INTO core.event_outbox (account_id, created_at, event_id, type, data)
               SELECT 'acc_' || n % 100, now(), 'evt_' || n, 'test', '{}' FROM generate_series(1, ${ROWS}) n`);
      await raw('ANALYZE core.turn, core.event_outbox');
      await raw(`SET LOCAL plan_cache_mode = ${mode}`);
      const { rows } = await tx.query<{ statement: string }>(
        { name: 'test_due_text', text: `SELECT statement FROM pg_prepared_statements WHERE name = 'due_find_topics'` },
        [],
      );
      await raw(`PREPARE explained (text[]) AS ${rows[0]?.statement}`);
      const lines = (await raw(`EXPLAIN EXECUTE explained ('{search.first,search.second}')`)).rows.map(
        (row) => row['QUERY PLAN'],
      );
      await raw('DEALLOCATE explained');
      throw Object.assign(new Error(STOP), { lines });
    });
    const { message, lines } = await plan.catch((error) => error as Error & { lines: string[] });
    expect(message).toBe(STOP);
    const scans = lines.filter((line) => /Scan/.test(line) && /turn|event_outbox/.test(line));
    expect(scans.length).toBeGreaterThan(2);
    expect(scans.filter((line) => !/Index/.test(line))).toEqual([]);
  },
);
