// Plans of the hot statements on a table with 60,000 messages: by index, in index order, whether or not statistics were ever
// gathered, for known values and as the generic plan of a prepared statement. Texts are those the service has prepared itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { inProcess } from './in-process.ts';

let service: TestService;
let account: TestAccount;
const texts = new Map<string, { text: string; types: string[] }>();

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Parent Relationship'?: string;
  readonly Plans?: readonly PlanNode[];
}

beforeAll(async () => {
  // own service: looks at plans
  service = await startTestService();
  account = await createTestAccount(service.core);
  await sql(`ALTER TABLE queue.message SET (autovacuum_enabled = false)`);
  await sql(`ALTER TABLE queue.fifo_group SET (autovacuum_enabled = false)`);
  await exercise();
  await rememberTexts();
  await fill();
}, 120_000);

afterAll(() => service.stop());

let statements = 0;
function sql<R>(text: string, values: (string | bigint)[] = []) {
  statements += 1;
  return service.core.db.query<R>({ name: `test_plans_${statements}`, text }, values);
}

/** Every kind of call once, so that its statements are prepared. */
async function exercise(): Promise<void> {
  const call = await inProcess(service.core, account.secret);
  for (const [name, settings] of [
    ['dead', {}],
    ['flat', { dead_letter_queue: 'dead', max_retries: 1 }],
    ['bands', { enable_priority: true }],
    ['groups', { type: 'fifo' }],
  ] as const) {
    await call('create', { name, ...settings });
    const fields = name === 'groups' ? { deduplication_id: 'd' } : {};
    await call('batch.publish', { queue: name, items: [1, 2, 3].map((n) => ({ payload: { n }, ...fields })) });
    await call('publish', { queue: name, payload: {} });
    const { items } = await call('consume', { queue: name, max_messages: 3 });
    await call('ack', { queue: name, receipt_handle: items[0].receipt_handle });
    await call('nack', { queue: name, receipt_handle: items[1].receipt_handle });
    await call('stats', { queue: name });
    await call('peek', { queue: name, limit: 10 });
    await call('peek', { queue: name, limit: 10, newest: true });
    await call('purge', { queue: name });
  }
  await call('consume', { queue: 'flat', wait_seconds: 0.6 });
}

async function rememberTexts(): Promise<void> {
  const read = async (tx: Transaction) => {
    const { rows } = await tx.query<{ name: string; statement: string; types: string[] }>(
      {
        name: 'test_plans_prepared',
        text: `SELECT name, statement, parameter_types::text[] AS types, pg_sleep(0.05) FROM pg_prepared_statements`,
      },
      [],
    );
    for (const { name, statement, types } of rows) texts.set(name, { text: statement, types });
  };
  const { db } = service.core;
  await Promise.all(Array.from({ length: 6 }, () => [db.hot.transaction(read), db.transaction(read)]).flat());
}

async function fill(): Promise<void> {
  await sql(
    `INSERT INTO queue.message (account_id, queue_id, seq, visible_at, band, home_band, priority, leased, attempt, delivery_count,
                                delivery_base, source_queue_id, retain_from, group_id, payload)
     SELECT q.account_id, q.queue_id, (((extract(epoch FROM now()) * 1000)::bigint - 1704067200000) << 22) + i * 10 + length(q.name),
            now() + (i % 100 - 70) * interval '1 second',
            CASE q.name WHEN 'bands' THEN i % 11 WHEN 'flat' THEN CASE WHEN i % 50 = 0 THEN 127 ELSE 10 END ELSE 10 END,
            10, 0, i % 5 = 0, 1, 1, 0,
            CASE q.name WHEN 'dead' THEN (SELECT f.queue_id FROM queue.queue f WHERE f.account_id = $1 AND f.name = 'flat') END,
            CASE q.name WHEN 'dead' THEN now() END,
            CASE q.name WHEN 'groups' THEN 'g' || i % 1000 END,
            '{"n":' || i || '}'
       FROM queue.queue q, generate_series(1, 15000) i
      WHERE q.account_id = $1`,
    [account.accountId],
  );
  await sql(
    `INSERT INTO queue.fifo_group (account_id, queue_id, group_id, ready_at, head_seq, in_flight)
     SELECT m.account_id, m.queue_id, m.group_id, now() + random() * interval '1 minute', min(m.seq), '{}'
       FROM queue.message m WHERE m.account_id = $1 AND m.group_id IS NOT NULL GROUP BY 1, 2, 3`,
    [account.accountId],
  );
}

/** Of the statements about FIFO groups; `queue` stands for account and queue, `seqs` for twenty messages. */
function groupLiterals(queue: string[], seqs: string): Record<string, string[]> {
  const twenty = (value: string) => `'{${Array(20).fill(value).join()}}'`;
  return {
    fifo_claim_groups: [...queue, '10', `'{}'`],
    fifo_find_lapsed_groups: [...queue, '500'],
    fifo_read_heads: [...queue, `'{g1,g2,g3}'`, '10'],
    fifo_read_first: [...queue, `'{g1,g2,g3}'`],
    fifo_read_leases: [...queue, seqs],
    fifo_read_by_seq: [...queue, seqs],
    fifo_return: [...queue, seqs, twenty('now'), twenty('1')],
    fifo_lease: [...queue, seqs, twenty('now')],
    fifo_lock_groups: [...queue, `'{g1,g2,g3}'`],
  };
}

/** Values of the parameters, as SQL. */
async function literals(): Promise<Record<string, string[]>> {
  const { rows } = await sql<{ name: string; queue_id: bigint; revision: number; seq: bigint }>(
    `SELECT q.name, q.queue_id, q.revision, (SELECT max(m.seq) FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = q.queue_id) AS seq
       FROM queue.queue q WHERE q.account_id = $1`,
    [account.accountId],
  );
  const queue = Object.fromEntries(rows.map((row) => [row.name, row]));
  const of = (name: string) => [`'${account.accountId}'`, String(queue[name]?.queue_id)];
  const accounts = `'{${account.accountId}}'`;
  const seqs = (name: string) =>
    `'{${Array.from({ length: 20 }, (_, i) => BigInt(queue[name]?.seq ?? 0) - BigInt(i * 10)).join()}}'`;
  const claim = (name: string) =>
    [of(name)[0], `'${name}'`, of(name)[1], String(queue[name]?.revision), '10', '30', '3', '1209600000'] as string[];
  return {
    queue_claim: claim('flat'),
    queue_claim_bands: claim('bands'),
    message_ack: [
      of('flat')[0] as string,
      "'flat'",
      of('flat')[1] as string,
      seqs('flat'),
      `'{${Array.from({ length: 20 }, () => 1).join()}}'`,
    ],
    message_lock_lapsed: [...of('flat'), '500'],
    retention_select: [...of('flat'), '1209600000', '500'],
    stats_select: of('flat'),
    queue_select_due: [of('flat')[0] as string, `'{${of('flat')[1]},${of('dead')[1]}}'`],
    peek_select: [...of('bands'), '10', '1209600000'],
    peek_select_newest: [...of('bands'), '10', '1209600000'],
    ...groupLiterals(of('groups') as string[], seqs('groups')),
    peek_select_fifo: [...of('groups'), '10'],
    waiting_find_ready: [
      accounts,
      `'{${Array(3).fill(account.accountId).join()}}'`,
      `'{flat,bands,groups}'`,
      `'{1,100,1}'`,
    ],
    publish_read_queues: [accounts, accounts, `'{flat}'`],
    publish_insert_messages: [
      accounts,
      accounts,
      `'{${of('flat')[1]}}'`,
      `'{1}'`,
      `'{now}'`,
      `'{10}'`,
      `'{0}'`,
      `'{NULL}'`,
      `'{NULL}'`,
      `'{NULL}'`,
      `'{"{}"}'`,
      `'{NULL}'`,
    ],
    lane_lock_wallets: [accounts],
    lane_read_grants: [accounts],
    key_read_live: [accounts, `'{}'`],
    unordered: claim('flat'),
    unindexed: [`'x'`],
  };
}

const ordered = new Set([
  'queue_claim',
  'queue_claim_bands',
  'message_lock_lapsed',
  'retention_select',
  'peek_select',
  'fifo_claim_groups',
  'fifo_find_lapsed_groups',
  'fifo_read_heads',
  'fifo_read_first',
  'lane_lock_wallets',
]);
const names = [
  ...ordered,
  'message_ack',
  'stats_select',
  'queue_select_due',
  'peek_select_fifo',
  'fifo_read_leases',
  'fifo_lease',
  'fifo_return',
  'fifo_read_by_seq',
  'fifo_lock_groups',
  'waiting_find_ready',
  'publish_read_queues',
  'publish_insert_messages',
  'lane_read_grants',
  'key_read_live',
];

const STOP = 'undo what the explained statements prepared';

/** The plan of the n-th execution of a prepared statement, with the settings of the hot connections. */
async function planOf(name: string, mode: string, executions: number): Promise<PlanNode> {
  const known = texts.get(name);
  if (known === undefined) throw new Error(`${name} was not prepared by any call`);
  const values = (await literals())[name] as string[];
  let plan: PlanNode | undefined;
  const raw = (text: string) => ({ name: '', text });
  await service.core.db.hot
    .transaction(async (tx) => {
      await tx.query(raw(`SET LOCAL plan_cache_mode = ${mode}`), []);
      await tx.query(raw(`PREPARE explained (${known.types.join()}) AS ${known.text}`), []);
      for (let i = 0; i < executions; i += 1) {
        const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          raw(`EXPLAIN (FORMAT JSON) EXECUTE explained (${values.join(', ')})`),
          [],
        );
        plan = rows[0]?.['QUERY PLAN'][0].Plan;
      }
      await tx.query(raw('DEALLOCATE explained'), []);
      throw new Error(STOP);
    })
    .catch((error: Error) => {
      if (error.message !== STOP) throw error;
    });
  return plan as PlanNode;
}

/** Scans that read whole tables, and sorts of rows that an index could have given in order. */
function faultsOf(node: PlanNode, inOrder: boolean): string[] {
  const children = node.Plans ?? [];
  const type = node['Node Type'];
  const faults: string[] = [];
  if (type === 'Seq Scan' || type === 'Bitmap Heap Scan') faults.push(`${type} on ${node['Relation Name']}`);
  if (type.includes('Sort') && inOrder && readsRelation(node)) faults.push(type);
  return [...faults, ...children.flatMap((child) => faultsOf(child, inOrder))];
}

/** Whether the rows of a node come straight from a table; those of a materialised CTE are few and were cut already. */
function readsRelation(node: PlanNode): boolean {
  if (node['Relation Name'] !== undefined) return true;
  return (node.Plans ?? []).some((child) => child['Parent Relationship'] !== 'InitPlan' && readsRelation(child));
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'without statistics') return;
    await sql('ANALYZE queue.message');
    await sql('ANALYZE queue.fifo_group');
  });

  describe.each([
    ['known values', 'force_custom_plan', 1],
    ['the sixth execution', 'auto', 6],
    ['the generic plan', 'force_generic_plan', 1],
  ] as const)('%s', (_, mode, executions) => {
    test.each(names)('%s reads by index, in its order', async (name) => {
      const plan = await planOf(name, mode, executions);
      expect(faultsOf(plan, ordered.has(name)), JSON.stringify(plan)).toEqual([]);
    });
  });
});

test('the order of a claim is that of the index message_ready', async () => {
  for (const name of ['queue_claim', 'queue_claim_bands']) {
    const plan = JSON.stringify(await planOf(name, 'force_generic_plan', 1));
    expect(plan).toContain('"Index Name":"message_ready"');
  }
});

test('a claim in an order that no index gives, or of a column without one, is found out', async () => {
  const claim = texts.get('queue_claim') as { text: string; types: string[] };
  texts.set('unordered', { ...claim, text: claim.text.replace('ORDER BY m.visible_at, m.seq', 'ORDER BY m.attempt') });
  expect(faultsOf(await planOf('unordered', 'auto', 1), true)).toContain('Sort');
  const counting = `SELECT count(*) FROM queue.message WHERE payload = $1`;
  texts.set('unindexed', { text: counting, types: ['text'] });
  expect(faultsOf(await planOf('unindexed', 'auto', 1), true)).toEqual(['Seq Scan on message']);
});
