// Plans of what looks for items and results of batches, on tables that are large: by index, in its order, without statistics.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { batchSweeps } from '../../src/modules/ai/batches/early-end.ts';
import { createTestAccount } from '../support/service.ts';
import { BatchCaller, many } from './batches-harness.ts';
import { type AiBench, startAi } from './harness.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const STOP = 'undo what the explained statements prepared';
const texts = new Map<string, { statement: string; types: string[] }>();
let bench: AiBench;
let it: BatchCaller;
let batchId: string;

beforeAll(async () => {
  bench = await startAi();
  it = new BatchCaller(bench.service, await createTestAccount(bench.service.core, 1));
  for (const table of ['ai.batch', 'ai.batch_item']) await sql(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  // Once everything, so that its statements are prepared.
  const body = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Hello.' }] };
  batchId = (await it.create(many(3, { capability: 'ai.chat', body }))).batch_id;
  await it.over(batchId);
  await it.results(batchId);
  for (const { run } of batchSweeps(bench.service.core)) await run(new AbortController().signal);
  await rememberTexts();
  await fill();
});
afterAll(() => bench?.service.stop());

const raw = (text: string) => ({ name: '', text });
const sql = (text: string, values: string[] = []) => bench.service.core.db.query(raw(text), values);

async function rememberTexts(): Promise<void> {
  const text = `SELECT name, statement, parameter_types::text[] AS types, pg_sleep(0.05) FROM pg_prepared_statements`;
  const read = async (tx: Transaction) => {
    const { rows } = await tx.query<{ name: string; statement: string; types: string[] }>(raw(text), []);
    for (const { name, ...prepared } of rows) texts.set(name, prepared);
  };
  await Promise.all(Array.from({ length: 8 }, () => bench.service.core.db.transaction(read)));
}

/** The account has 30,000 requests that wait and as many results, and 10,000 other accounts have batches. */
async function fill(): Promise<void> {
  const { accountId } = it.account;
  const columns = 'account_id, batch_id, key_id, status, total, kept_bytes, created_at, expires_at, finished_at';
  await sql(
    `INSERT INTO ai.batch (${columns})
     SELECT 'acct_' || n, 'aib_' || n, 'key_1', 'running', 1, 0, now(), now() + interval '1 day', CASE WHEN n % 2 = 0 THEN now() END
       FROM generate_series(1, 10000) n`,
  );
  await sql(
    `INSERT INTO ai.batch_item (account_id, batch_id, item_no, custom_id, capability, due_at, result_no)
     SELECT $1, $2, n, n::text, 'ai.chat', CASE WHEN n % 2 = 0 THEN now() + interval '1 year' END, CASE WHEN n % 2 = 1 THEN n END
       FROM generate_series(100, 60100) n`,
    [accountId, batchId],
  );
}

async function planOf(name: string, values: string, mode: string): Promise<PlanNode> {
  const prepared = texts.get(name);
  if (prepared === undefined) throw new Error(`${name} was not prepared`);
  let plan: PlanNode | undefined;
  await bench.service.core.db
    .transaction(async (tx) => {
      const types = prepared.types.length === 0 ? '' : `(${prepared.types.join(', ')})`;
      const text = prepared.statement;
      await tx.query(raw(`PREPARE explained ${types} AS ${text}`), []);
      await tx.query(raw(`SET LOCAL plan_cache_mode = ${mode}`), []);
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        raw(`EXPLAIN (FORMAT JSON) EXECUTE explained${values}`),
        [],
      );
      plan = rows[0]?.['QUERY PLAN'][0].Plan;
      await tx.query(raw('DEALLOCATE explained'), []);
      throw new Error(STOP);
    })
    .catch((error: Error) => {
      if (error.message !== STOP) throw error;
    });
  return plan as PlanNode;
}

function indexesOf(plan: PlanNode): string[] {
  const own = plan['Index Name'] ?? (plan['Node Type'] === 'Seq Scan' ? `Seq Scan on ${plan['Relation Name']}` : null);
  return [...(own === null ? [] : [own]), ...(plan.Plans ?? []).flatMap(indexesOf)];
}

const id = () => `'${it.account.accountId}', '${batchId}'`;
const account = () => `'${it.account.accountId}'`;

test.each<[string, () => string, readonly string[]]>([
  ['ai_item_claim', () => `(${account()}, 8, '{}', 60000, false)`, ['batch_item_due', 'batch_item_pkey', 'batch_pkey']],
  ['ai_item_next_due', () => `(${account()})`, ['batch_item_due']],
  ['ai_item_lock', () => `(${id()}, 5000)`, ['batch_item_pkey']],
  ['ai_result_sizes', () => `(${id()}, 100, 21)`, ['batch_item_result']],
  ['ai_result_read', () => `(${id()}, 100, 120)`, ['batch_item_result']],
  ['ai_batch_lock', () => `(${id()})`, ['batch_pkey']],
  ['ai_batch_count', () => `(${account()})`, ['batch_pkey']],
  ['ai_batch_find_expired', () => '(50)', ['batch_expiry']],
  ['ai_batch_find_old', () => '(50)', ['batch_finished']],
])('%s reads along its index', async (name, values, indexes) => {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    const plan = await planOf(name, values(), mode);
    expect([...new Set(indexesOf(plan))].sort(), JSON.stringify(plan)).toEqual([...indexes].sort());
    expect(JSON.stringify(plan)).not.toContain('"Node Type":"Sort"');
  }
});
