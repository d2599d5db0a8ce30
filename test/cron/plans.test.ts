// Plans of what looks for due work and begins it, on tables that are large: by index, in its order, whether or not statistics were
// ever gathered. Texts are those that the service has prepared itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { CronBench } from './harness.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const STOP = 'undo what the explained statements prepared';
const tables = ['cron.job', 'cron.run', 'core.turn'];
const texts = new Map<string, { text: string; types: string[] }>();
let bench: CronBench;
let jobId: string;
let runId: string;

beforeAll(async () => {
  bench = await CronBench.start();
  for (const table of tables) await sql(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  // Once everything, so that its statements are prepared; connections take turns.
  const { job_id: longId } = await bench.create({ timeout_seconds: 900 });
  for (let i = 0; i < 3; i += 1) await bench.runNext(longId);
  await bench.ok('POST', `/v1/cron/pause/${longId}`);
  jobId = (await bench.create()).job_id;
  for (let i = 0; i < 3; i += 1) runId = (await bench.runNext(jobId)).run_id;
  await rememberTexts();
  await bench.ok('POST', `/v1/cron/pause/${jobId}`);
  await fill();
});
afterAll(() => bench.stop());

let statements = 0;
function sql<R>(text: string, values: string[] = []) {
  statements += 1;
  return bench.core.db.query<R>({ name: `test_plans_${statements}`, text }, values);
}

async function rememberTexts(): Promise<void> {
  const read = async (tx: Transaction) => {
    const text = `SELECT name, statement, parameter_types::text[] AS types, pg_sleep(0.05) FROM pg_prepared_statements`;
    const { rows } = await tx.query<{ name: string; statement: string; types: string[] }>(
      { name: 'test_texts', text },
      [],
    );
    for (const { name, statement, types } of rows) texts.set(name, { text: statement, types });
  };
  const { db } = bench.core;
  await Promise.all(Array.from({ length: 6 }, () => [db.hot.transaction(read), db.transaction(read)]).flat());
}

/** The account has 20,000 jobs and 60,000 runs, and there are 20,000 other accounts with jobs. */
async function fill(): Promise<void> {
  const columns = `key_id, task_url, cron_expr, timezone, status, next_run_at, secret, secret_last4, created_at, updated_at`;
  const copied = `j.key_id, j.task_url, j.cron_expr, j.timezone, 'active', now() + interval '1 year' + n * interval '1 second', j.secret, '', now(), now()`;
  await sql(
    `INSERT INTO cron.job (account_id, job_id, ${columns})
     SELECT j.account_id, j.job_id || n, ${copied} FROM cron.job j, generate_series(1, 20000) n WHERE j.job_id = $1`,
    [jobId],
  );
  await sql(
    `INSERT INTO cron.job (account_id, job_id, ${columns})
     SELECT 'acct_other_' || n, j.job_id, ${copied} FROM cron.job j, generate_series(1, 20000) n WHERE j.job_id = $1`,
    [jobId],
  );
  await sql(
    `INSERT INTO core.turn (account_id, work, due_at, told) SELECT 'acct_other_' || n, 'cron.runs', now() + interval '1 year' + n * interval '1 second', 1 FROM generate_series(1, 20000) n`,
  );
  await sql(
    `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, cost_nanos)
     SELECT j.account_id, 'run_' || n, j.job_id, now() - n * interval '1 minute', now() - n * interval '1 minute', 'succeeded', 1, 0
       FROM cron.job j, generate_series(1, 60000) n WHERE j.account_id = $1 AND j.job_id = $2`,
    [bench.account.accountId, jobId],
  );
}

const at = (field: 'account' | 'job' | 'run') =>
  `'${{ account: bench.account.accountId, job: jobId, run: runId }[field]}'`;

/** Values of the parameters, as SQL. */
const statementsWithValues: Readonly<Record<string, () => readonly string[]>> = {
  turn_find: () => [`'cron.runs'`, '288'],
  turn_end: () => [at('account'), `'cron.runs'`, '1', 'now()', 'now()'],
  cron_claim_lapsed: () => [at('account'), '16', `'{}'`],
  cron_next_lapse: () => [at('account')],
  cron_next_slot: () => [at('account')],
  cron_select_due: () => [at('account'), '16'],
  cron_claim_lapsed_long: () => [at('account'), '16', `'{}'`],
  cron_next_lapse_long: () => [at('account')],
  cron_next_slot_long: () => [at('account')],
  cron_select_due_long: () => [at('account'), '16'],
  cron_advance_jobs: () => [
    at('account'),
    `'{${jobId}}'`,
    `'{now}'`,
    `'{active}'`,
    `'{${runId}}'`,
    `'{null}'`,
    'now()',
  ],
  cron_end_run: () => [at('account'), at('run'), '1', `'failed'`, 'now()', 'NULL', 'NULL', 'NULL', 'NULL', '0'],
  cron_note_last_run: () => [at('account'), at('job'), at('run'), `'{}'`, 'now()', 'now()'],
  cron_select_runs: () => [at('account'), at('job'), `'infinity'`, '21'],
  kit_cron_job_find: () => [at('account'), at('job')],
  unindexed: () => [`'x'`],
};
const ordered = new Set([
  'turn_find',
  'cron_next_lapse',
  'cron_next_lapse_long',
  'cron_next_slot',
  'cron_next_slot_long',
  'cron_select_due',
  'cron_select_due_long',
  'cron_select_runs',
]);

async function planOf(name: string, mode: string): Promise<PlanNode> {
  const known = texts.get(name);
  const values = statementsWithValues[name]?.();
  if (known === undefined || values === undefined) throw new Error(`${name} was not prepared by any call`);
  let plan: PlanNode | undefined;
  const raw = (text: string) => ({ name: '', text });
  await bench.core.db
    .transaction(async (tx) => {
      await tx.query(raw(`SET LOCAL plan_cache_mode = ${mode}`), []);
      await tx.query(raw(`PREPARE explained (${known.types.join()}) AS ${known.text}`), []);
      const explain = raw(`EXPLAIN (FORMAT JSON) EXECUTE explained (${values.join(', ')})`);
      plan = (await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, [])).rows[0]?.['QUERY PLAN'][0].Plan;
      await tx.query(raw('DEALLOCATE explained'), []);
      throw new Error(STOP);
    })
    .catch((error: Error) => {
      if (error.message !== STOP) throw error;
    });
  return plan as PlanNode;
}

/** Scans of whole tables, and sorts of rows that an index could have given in order. */
function faultsOf(node: PlanNode, inOrder: boolean): string[] {
  const type = node['Node Type'];
  const isFault = type === 'Seq Scan' || (inOrder && (type.includes('Sort') || type === 'Bitmap Heap Scan'));
  return [
    ...(isFault ? [`${type} on ${node['Relation Name']}`] : []),
    ...(node.Plans ?? []).flatMap((child) => faultsOf(child, inOrder)),
  ];
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with fresh statistics') for (const table of tables) await sql(`ANALYZE ${table}`);
  });

  describe.each(['force_custom_plan', 'force_generic_plan'])('%s', (mode) => {
    test.each(Object.keys(statementsWithValues).filter((name) => name !== 'unindexed'))(
      '%s reads by index, in its order',
      async (name) => {
        const plan = await planOf(name, mode);
        expect(faultsOf(plan, ordered.has(name)), JSON.stringify(plan)).toEqual([]);
      },
    );
  });
});

test('a look-up without an index is found out', async () => {
  texts.set('unindexed', { text: 'SELECT count(*) FROM cron.job WHERE task_url = $1', types: ['text'] });
  expect(faultsOf(await planOf('unindexed', 'auto'), true)).toContain('Seq Scan on job');
});
