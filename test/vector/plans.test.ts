// Plans of the module's statements with 40,000 vectors of several accounts and collections: by index and by whole keys, whether or not
// statistics were gathered. Texts are those the service has prepared itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { VectorBench } from './harness.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

let bench: VectorBench;
const texts = new Map<string, { text: string; types: string[] }>();
let statements = 0;

function sql<R>(text: string, values: (string | bigint)[] = []) {
  statements += 1;
  return bench.service.core.db.query<R>({ name: `test_vector_plans_${statements}`, text }, values);
}

beforeAll(async () => {
  bench = await VectorBench.start({ isFresh: true });
  for (const table of ['collection', 'item', 'tombstone'])
    await sql(`ALTER TABLE vector.${table} SET (autovacuum_enabled = false)`);
  await exercise();
  await rememberTexts();
  await fill();
}, 120_000);
afterAll(() => bench.service.stop());

/** Every kind of call, so that its statements are prepared. */
async function exercise(): Promise<void> {
  await bench.create('docs', 1);
  await bench.upsert('docs', [{ id: 'a', embedding: [1], metadata: { n: 1 } }]);
  await bench.upsert(
    'docs',
    Array.from({ length: 150 }, (_, i) => ({ id: `${i}`, embedding: [1] })),
  );
  await bench.ok('PATCH', '/v1/vector/update', { collection: 'docs', id: 'a', metadata: { n: 2 } });
  await bench.query('docs', [1]);
  await bench.query('docs', [1], { include_values: true });
  await bench.fetch('docs', ['a'], { include_values: true });
  await bench.fetch('docs', ['a']);
  await bench.ok('GET', '/v1/vector/list?collection=docs&prefix=a');
  await bench.ok('GET', '/v1/vector/collection/list');
  await bench.get('docs');
  await bench.ok('POST', '/v1/vector/delete_by_filter', { collection: 'docs', filter: { n: 2 } });
  await bench.remove('docs', ['1']);
}

async function rememberTexts(): Promise<void> {
  const text = `SELECT name, statement, parameter_types::text[] AS types, pg_sleep(0.05) FROM pg_prepared_statements`;
  const read = async (tx: Transaction) => {
    const { rows } = await tx.query<{ name: string; statement: string; types: string[] }>({ name: '', text }, []);
    for (const { name, statement, types } of rows) texts.set(name, { text: statement, types });
  };
  const { db } = bench.service.core;
  await Promise.all(Array.from({ length: 6 }, () => [db.hot.transaction(read), db.transaction(read)]).flat());
}

async function fill(): Promise<void> {
  const accounts = `(VALUES ($1), ('acct_anon_x1')) a(account_id)`;
  const own = [bench.account.accountId];
  await sql(
    `INSERT INTO vector.collection SELECT a.account_id, 'c' || i, 'vcol_' || i, 1, 'cosine', NULL, 7, 0, 0, now(), now()
       FROM ${accounts}, generate_series(1, 900) i`,
    own,
  );
  await sql(
    `INSERT INTO vector.item SELECT a.account_id, 'vcol_' || 1 + i % 3, 'v' || i, i, '\\x0000803f', '{"n": 1}'
       FROM ${accounts}, generate_series(1, 20000) i`,
    own,
  );
  await sql(
    `INSERT INTO vector.tombstone SELECT a.account_id, 'vcol_' || 1 + i % 3, i, 'v' || i, now() FROM ${accounts}, generate_series(1, 5000) i`,
    own,
  );
}

/** Values of the parameters, as SQL. */
function valuesOf(name: string): string[] {
  const account = `'${bench.account.accountId}'`;
  const accounts = `'{${bench.account.accountId}}'`;
  const each = (value: string) => `'{${Array.from({ length: 20 }, () => value).join()}}'`;
  const ids = `'{${Array.from({ length: 20 }, (_, i) => `v${i * 3}`).join()}}'`;
  const mine = each(bench.account.accountId);
  const metadata = each('"{}"');
  const known: Record<string, string[]> = {
    vector_change_read_collections: [accounts, mine, each('c7')],
    vector_change_lock_collections: [accounts, mine, each('c7')],
    vector_change_read_ids: [accounts, mine, each('c1'), ids],
    vector_change_advance: [accounts, mine, each('vcol_1'), ids, 'now()'],
    vector_change_update_items: [accounts, mine, each('vcol_1'), ids, each('9'), metadata],
    kit_vector_collection_find: [account, `'c7'`],
    kit_vector_collection_page: [account, `'c7'`, '21'],
    vector_lock_collection: [account, `'c7'`],
    vector_select_items: [account, `'vcol_1'`, ids],
    vector_select_items_with_values: [account, `'vcol_1'`, ids],
    vector_select_page: [account, `'vcol_1'`, `'v1'`, `'v'`, `'w'`, '21'],
    vector_delete_items: [account, `'vcol_1'`, ids],
    vector_find_passing: [`'{eq}'`, `'{n}'`, `'{1}'`, account, `'vcol_1'`, `'v1'`, '1000'],
    vector_delete_passing: [`'{eq}'`, `'{n}'`, `'{1}'`, account, `'vcol_1'`, ids, '7'],
  };
  return known[name] as string[];
}

const WHOLE_ITEM = ['collection_id', 'id'];
/** Where each runs, what index it must use, and by which columns beside the account. */
const cases: [name: string, pool: 'hot' | 'general', index: string, columns: string[]][] = [
  ['vector_change_read_collections', 'hot', 'collection_pkey', ['name']],
  ['vector_change_lock_collections', 'hot', 'collection_pkey', ['name']],
  ['vector_change_read_ids', 'hot', 'item_pkey', WHOLE_ITEM],
  ['vector_change_advance', 'hot', 'item_pkey', WHOLE_ITEM],
  ['vector_change_advance', 'hot', 'collection_id', ['collection_id']],
  ['vector_change_advance', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_change_update_items', 'hot', 'item_pkey', WHOLE_ITEM],
  ['kit_vector_collection_find', 'general', 'collection_pkey', ['name']],
  ['kit_vector_collection_page', 'general', 'collection_pkey', ['name']],
  ['vector_lock_collection', 'general', 'collection_pkey', ['name']],
  ['vector_select_items', 'hot', 'item_pkey', WHOLE_ITEM],
  ['vector_select_items', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_select_items_with_values', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_select_page', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_delete_items', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_find_passing', 'general', 'item_pkey', WHOLE_ITEM],
  ['vector_delete_passing', 'general', 'item_pkey', WHOLE_ITEM],
];
/** Read in the order of an index, so that a page costs what it shows. */
const ordered = new Set(['kit_vector_collection_page', 'vector_select_page', 'vector_find_passing']);

const STOP = 'undo what the explained statements prepared';

async function planOf(name: string, pool: 'hot' | 'general', mode: string): Promise<PlanNode> {
  const known = texts.get(name);
  if (known === undefined) throw new Error(`${name} was not prepared by any call`);
  const { db } = bench.service.core;
  const raw = (text: string) => ({ name: '', text });
  let plan: PlanNode | undefined;
  statements += 1;
  const explain = async (tx: Transaction) => {
    await tx.query(raw(`SET LOCAL plan_cache_mode = ${mode}`), []);
    await tx.query(raw(`PREPARE explained_${statements} (${known.types.join()}) AS ${known.text}`), []);
    const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      raw(`EXPLAIN (FORMAT JSON) EXECUTE explained_${statements} (${valuesOf(name).join(', ')})`),
      [],
    );
    plan = rows[0]?.['QUERY PLAN'][0].Plan;
    await tx.query(raw(`DEALLOCATE explained_${statements}`), []);
    throw new Error(STOP);
  };
  await (pool === 'hot' ? db.hot.transaction(explain) : db.transaction(explain)).catch((error: Error) => {
    if (error.message !== STOP) throw error;
  });
  return plan as PlanNode;
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'without statistics') return;
    for (const table of ['collection', 'item', 'tombstone']) await sql(`ANALYZE vector.${table}`);
  });

  describe.each(['force_custom_plan', 'force_generic_plan'])('%s', (mode) => {
    test.each(cases)('%s on %s connections reads %s by %j', async (name, pool, index, columns) => {
      const nodes = nodesOf(await planOf(name, pool, mode));
      const types = nodes.map((node) => node['Node Type']);
      expect(types).not.toContain('Seq Scan');
      if (ordered.has(name)) expect(types.filter((type) => type.includes('Sort'))).toEqual([]);
      const condition = nodes.find((node) => node['Index Name'] === index)?.['Index Cond'] ?? JSON.stringify(nodes);
      for (const column of columns) expect(condition).toMatch(new RegExp(`\\(${column} [=><]`));
    });

    test('vector_find_passing reads no more rows than it is told to, however few pass', async () => {
      const nodes = nodesOf(await planOf('vector_find_passing', 'general', mode));
      const limit = nodes.find((node) => node['Node Type'] === 'Limit');
      expect(limit?.Plans).toHaveLength(1);
      expect(limit?.Plans?.[0]).toMatchObject({ 'Relation Name': 'item', 'Index Name': 'item_pkey' });
      expect(limit?.Plans?.[0]?.Filter).toBeUndefined();
    });
  });
});
