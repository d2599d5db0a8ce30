// Plans of the delivery engine's statements on a table with 60,000 due deliveries: by index, in index order, and touching no more
// rows than they answer. Texts are those the service has prepared itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { createTestAccount, type TestService } from '../support/service.ts';
import { emit, type Receiver, register, sql, startEngine, startReceiver, until } from './engine-harness.ts';

let service: TestService;
let receiver: Receiver;
let accountId: string;
let webhookIds: string[];
const texts = new Map<string, { text: string; types: string[] }>();

const names = [
  'delivery_find_lines',
  'delivery_lock_lines',
  'delivery_claim',
  'delivery_leave_lines',
  'delivery_read_webhooks',
  'outcome_lock_webhooks',
  'outcome_save_lines',
  'outcome_save_deliveries',
];

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

beforeAll(async () => {
  service = await startEngine();
  let code = 500;
  receiver = await startReceiver((_received, res) => res.writeHead(code).end());
  accountId = (await createTestAccount(service.core)).accountId;
  webhookIds = [await register(service.core, accountId, { url: receiver.url })];
  webhookIds.push(await register(service.core, accountId, { url: receiver.url }));
  await emit(service.core, accountId);
  await until(() => receiver.seen.length === 2);
  code = 200;
  await emit(service.core, accountId);
  await until(() => receiver.seen.length === 4);
  // Each connection has prepared what it was used for.
  await until(async () => {
    await rememberTexts();
    return names.every((name) => texts.has(name));
  });
  await sql(service.core.db, 'ALTER TABLE core.delivery SET (autovacuum_enabled = false)');
  await sql(service.core.db, `UPDATE core.delivery_line SET due_at = NULL`);
  await sql(
    service.core.db,
    `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at, created_at)
     SELECT w.account_id, 'whd_' || w.webhook_id || lpad(n::text, 8, '0'), w.webhook_id, e.sequence, e.event_id, e.type, 'pending', 0,
            core.clock_now() - n % 100 * interval '1 second', core.clock_now()
       FROM core.webhook w, generate_series(1, 30000) n,
            (SELECT * FROM core.event WHERE account_id = $1 ORDER BY sequence DESC LIMIT 1) e
      WHERE w.account_id = $1`,
    [accountId],
  );
}, 120_000);

afterAll(async () => {
  await service.stop();
  await receiver.close();
});

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
  await Promise.all(Array.from({ length: 6 }, () => db.hot.transaction(read)));
}

/** Values of the parameters, as SQL. */
function values(name: string): string {
  const account = `'{${accountId}}'`;
  const two = `'{${accountId},${accountId}}', '{${webhookIds.join()}}'`;
  const id = `whd_${webhookIds[0]}00000007`;
  const known: Record<string, string> = {
    delivery_find_lines: '1, 200',
    delivery_lock_lines: `${account}, ${two}`,
    delivery_claim: `${account}, ${two}, '{8,32}'`,
    delivery_leave_lines: `${account}, ${two}`,
    delivery_read_webhooks: `${account}, ${two}`,
    outcome_lock_webhooks: `${account}, ${two}`,
    outcome_save_lines: `${account}, ${two}, '{1,2}', '{NULL,now}'`,
    outcome_save_deliveries: `${account}, 'now', '{${accountId}}', '{${id}}', '{0}', '{succeeded}', '{NULL}', '{200}', '{NULL}', '{5}', '{x}', '{x}', '{x}'`,
  };
  return known[name] as string;
}

const STOP = 'undo what the explained statement did';

/** The plan as it went, with the settings of the hot connections; its effect is undone. */
async function planOf(name: string, mode: string): Promise<PlanNode> {
  const known = texts.get(name);
  if (known === undefined) throw new Error(`${name} was not prepared by the service`);
  const raw = (text: string) => ({ name: '', text });
  let plan: PlanNode | undefined;
  await service.core.db.hot
    .transaction(async (tx) => {
      await tx.query(raw(`SET LOCAL plan_cache_mode = ${mode}`), []);
      await tx.query(raw(`PREPARE explained (${known.types.join()}) AS ${known.text}`), []);
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        raw(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE explained (${values(name)})`),
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

/** Rows that any node read from a table, those that it threw away included. */
function rowsRead(node: PlanNode): number {
  const below = Math.max(0, ...(node.Plans ?? []).map(rowsRead));
  if (node['Relation Name'] === undefined) return below;
  return Math.max(below, (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
}

function nodesOf(node: PlanNode): string[] {
  return [node['Node Type'], ...(node.Plans ?? []).flatMap(nodesOf)];
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with fresh statistics')
      await sql(service.core.db, 'ANALYZE core.delivery, core.delivery_line, core.webhook');
  });

  describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
    test.each(names)('%s reads by index what it answers, and no more', async (name) => {
      const plan = await planOf(name, mode);
      expect(nodesOf(plan), JSON.stringify(plan)).not.toContain('Seq Scan');
      expect(rowsRead(plan), JSON.stringify(plan)).toBeLessThanOrEqual(42);
    });
  });
});
