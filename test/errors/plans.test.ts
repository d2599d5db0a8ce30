// Plans of the statements of captures and lists with 60,000 events of several accounts and days: by index, whether or not
// statistics were gathered. Texts are those the service has prepared itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { sequenceMs } from '../../src/lib/sequence.ts';
import { dayOf, firstOfDay } from '../../src/modules/errors/retention.ts';
import { ErrorsBench } from './harness.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Parent Relationship'?: string;
  readonly Plans?: readonly PlanNode[];
}

let bench: ErrorsBench;
const texts = new Map<string, { text: string; types: string[] }>();
let groupId = 0n;
let statements = 0;

function sql<R>(text: string, values: (string | bigint)[] = []) {
  statements += 1;
  return bench.service.core.db.query<R>({ name: `test_errors_plans_${statements}`, text }, values);
}

beforeAll(async () => {
  bench = await ErrorsBench.start({ isFresh: true });
  for (const table of ['error_group', 'day_count', 'facet_count'])
    await sql(`ALTER TABLE errors.${table} SET (autovacuum_enabled = false)`);
  await exercise();
  await rememberTexts();
  await fill();
}, 120_000);
afterAll(() => bench.service.stop());

/** Every kind of call, so that its statements are prepared. */
async function exercise(): Promise<void> {
  // So many facets are rows.
  const tags = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`tag ${i}`, 'a value']));
  const { error_group_id: id, event_id: eventId } = await bench.capture({ message: 'm', user_id: 'u', tags });
  await bench.capture({ message: 'm', user_id: 'another' });
  await bench.get(eventId);
  await bench.list();
  await bench.list({ filter: { user_id: 'u' } });
  await bench.list({ filter: { error_group_id: id, user_id: 'u' } });
  await bench.list({ filter: { is_resolved: true } });
  await bench.events(id);
  for (const sort of ['count_desc', 'last_seen_desc', 'first_seen_desc']) await bench.groups({ sort });
  await bench.detail(id);
  await bench.change('resolve', id);
  const { rows } = await sql<{ group_id: bigint }>('SELECT group_id FROM errors.error_group WHERE account_id = $1', [
    bench.account.accountId,
  ]);
  groupId = (rows[0] as { group_id: bigint }).group_id;
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
  const accounts = `(VALUES ($1), ('acct_anon_x1'), ('acct_anon_x2')) a(account_id)`;
  const own = [bench.account.accountId];
  await sql(
    `INSERT INTO errors.error_group SELECT a.account_id, decode(lpad(to_hex(i), 64, '0'), 'hex'), i, 't', 'error', false, false, NULL,
            i, 1, 1, i, '0;', '0;', NULL, NULL FROM ${accounts}, generate_series(1, 2000) i`,
    own,
  );
  // Most accounts have very few groups: by the statistics, so has every account.
  await sql(
    `INSERT INTO errors.error_group SELECT 'acct_anon_few' || i, decode(lpad(to_hex(i), 64, '0'), 'hex'), i, 't', 'error', false, false, NULL,
            i, 1, 1, i, '0;', '0;', NULL, NULL FROM generate_series(1, 20000) i`,
  );
  await sql(
    `INSERT INTO errors.event SELECT a.account_id, (((extract(epoch FROM now()) * 1000)::bigint - 1704067200000) << 22) + i * 1000,
            1 + i % 2000, 'error', 't', 'm', NULL, NULL, 'u', NULL, '{}', i, 0, '{}', array_to_tsvector(ARRAY['w' || i % 100]) FROM ${accounts}, generate_series(1, 20000) i`,
    own,
  );
  await sql(
    `INSERT INTO errors.event_detail SELECT e.account_id, e.seq, '{}' FROM errors.event e ON CONFLICT DO NOTHING`,
  );
  await sql(
    `INSERT INTO errors.facet_count SELECT a.account_id, 1 + i % 2000, 1 + i % 4, 'name ' || i, '', 1 FROM ${accounts}, generate_series(1, 20000) i`,
    own,
  );
  await sql(
    `INSERT INTO errors.day_count SELECT a.account_id, 1 + i % 2000, i / 10, '', 'error', 1 FROM ${accounts}, generate_series(1, 20000) i`,
    own,
  );
}

const MAX = '9223372036854775807';

/** Values of the parameters, as SQL. */
function valuesOf(name: string): string[] {
  const account = `'${bench.account.accountId}'`;
  const accounts = `'{${bench.account.accountId}}'`;
  const prints = `'{${Array.from({ length: 20 }, (_, i) => `"\\\\x${i.toString(16).padStart(64, '0')}"`).join()}}'`;
  const each = (value: string) => `'{${Array.from({ length: 20 }, () => value).join()}}'`;
  const day = dayOf(sequenceMs(groupId));
  const scope = [account, '0', MAX, `'w7'`, 'NULL', 'NULL', `'{w7}'`];
  const known: Record<string, string[]> = {
    errors_capture_read_groups: [accounts, each(bench.account.accountId), prints],
    errors_capture_read_facets: [
      accounts,
      each(bench.account.accountId),
      prints,
      each(bench.account.accountId),
      each('1'),
      each('1'),
      each('name'),
      each('""'),
    ],
    errors_select_event: [account, groupId, firstOfDay(day), firstOfDay(day + 1)].map(String),
    errors_select_neighbours: [account, String(groupId), '17', '0'],
    errors_walk_account: [...scope, '21', '1000'],
    errors_walk_group: [...scope, '21', '1000', '7'],
    errors_sample_account: [...scope, '1000', 'NULL', 'NULL'],
    errors_sample_group: [...scope, '1000', 'NULL', 'NULL', '7'],
    errors_sum_days: [account, '7', '0', 'NULL', 'NULL'],
    errors_select_group: [account, '7'],
    errors_groups_by_first_seen: [account, 'NULL', 'NULL', MAX, '21'],
    errors_groups_by_last_seen: [account, 'NULL', 'NULL', MAX, '21', MAX],
    errors_groups_by_count: [account, 'NULL', 'NULL', MAX, '21', MAX, MAX],
    errors_select_top_values: [account, `'{1,2,3}'`, '1', '100'],
    errors_sum_values: [account, '7', '1'],
    errors_select_tags: [account, '7', '4'],
    errors_select_activity: [account, '7', '100'],
    errors_select_comments: [account, '7', '100'],
  };
  return known[name] as string[];
}

/** Go by the connections that plan by index only. */
const hot = [
  'errors_capture_read_groups',
  'errors_capture_read_facets',
  'errors_walk_account',
  'errors_walk_group',
  'errors_sample_account',
  'errors_sample_group',
  'errors_select_neighbours',
  'errors_groups_by_first_seen',
  'errors_groups_by_last_seen',
  'errors_groups_by_count',
];
const reads = [
  'errors_select_event',
  'errors_sum_days',
  'errors_select_group',
  'errors_select_top_values',
  'errors_sum_values',
  'errors_select_tags',
];
/** Read in the order of an index, so that a page costs what it shows. */
const ordered = new Set([
  'errors_select_neighbours',
  'errors_walk_account',
  'errors_walk_group',
  'errors_sample_account',
  'errors_sample_group',
  'errors_groups_by_first_seen',
  'errors_groups_by_last_seen',
  'errors_groups_by_count',
]);

const STOP = 'undo what the explained statements prepared';

async function planOf(name: string, mode: string): Promise<PlanNode> {
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
  await (hot.includes(name) ? db.hot.transaction(explain) : db.transaction(explain)).catch((error: Error) => {
    if (error.message !== STOP) throw error;
  });
  return plan as PlanNode;
}

/** Scans of whole tables that have rows, index scans that know only the account, and sorts before a limit could help. */
function faultsOf(node: PlanNode, inOrder: boolean): string[] {
  const type = node['Node Type'];
  const relation = node['Relation Name'] ?? '';
  const isEmptyPartition = /^event(_detail)?_\d+$/.test(relation) && type === 'Seq Scan';
  const faults: string[] = [];
  if (type === 'Seq Scan' && !isEmptyPartition) faults.push(`${type} on ${relation}`);
  if (type.includes('Sort') && inOrder && readsRelation(node)) faults.push(type);
  return [...faults, ...(node.Plans ?? []).flatMap((child) => faultsOf(child, inOrder))];
}

function readsRelation(node: PlanNode): boolean {
  if (node['Relation Name'] !== undefined)
    return node['Relation Name'] !== 'error_group' || node['Node Type'] === 'Seq Scan';
  // Below a limit the rows of a page or a sample are few.
  if (node['Node Type'] === 'Limit') return false;
  return (node.Plans ?? []).some(readsRelation);
}

/** What the index is searched by; undefined when it is not used. */
function conditionOf(node: PlanNode, index: string | RegExp): string | undefined {
  const name = node['Index Name'] ?? '';
  if (typeof index === 'string' ? name === index : index.test(name)) return node['Index Cond'] ?? '';
  for (const child of node.Plans ?? []) {
    const found = conditionOf(child, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'without statistics') return;
    for (const table of ['event', 'event_detail', 'error_group', 'day_count', 'facet_count'])
      await sql(`ANALYZE errors.${table}`);
  });

  describe.each([
    ['known values', 'force_custom_plan'],
    ['the generic plan', 'force_generic_plan'],
  ])('%s', (_, mode) => {
    test.each([...hot, ...reads])('%s reads by index', async (name) => {
      const plan = await planOf(name, mode);
      expect(faultsOf(plan, ordered.has(name)), JSON.stringify(plan)).toEqual([]);
    });
  });

  // Not all groups of the account, not all facets of the group.
  test.each([
    ['errors_capture_read_groups', 'error_group_pkey', ['fingerprint']],
    ['errors_capture_read_facets', 'error_group_pkey', ['fingerprint']],
    ['errors_capture_read_facets', 'facet_count_pkey', ['group_id', 'kind', 'name', 'value']],
    ['errors_select_event', 'error_group_by_id', ['group_id']],
    ['errors_select_event', /^event_detail_\d+_pkey$/, ['seq']],
    ['errors_select_group', 'error_group_by_id', ['group_id']],
    ['errors_walk_account', 'error_group_by_id', ['group_id']],
    ['errors_walk_group', 'error_group_by_id', ['group_id']],
  ])('%s looks each row up in %s by %j', async (name, index, columns) => {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const plan = await planOf(name, mode);
      const condition = conditionOf(plan, index) ?? JSON.stringify(plan);
      for (const column of columns) expect(condition, mode).toContain(`(${column} = `);
    }
  });
});

test('a statement without an index is found out', async () => {
  const text = 'SELECT group_id FROM errors.error_group WHERE title = $1 AND $2 > 0 AND $3 > 0';
  texts.set('errors_select_tags', { text, types: ['text', 'int', 'int'] });
  expect(faultsOf(await planOf('errors_select_tags', 'force_custom_plan'), true)).toEqual(['Seq Scan on error_group']);
});
