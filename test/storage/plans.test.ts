// Statements of storage read what they answer and no more, with 40,000 objects in the bucket, whether or not statistics were ever gathered.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { namedStatements } from '../../src/db/statement.ts';
import { type Own, StorageBench } from './harness.ts';

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

let bench: StorageBench;
let own: Own;
beforeAll(async () => {
  bench = await StorageBench.start({ isFresh: true });
  own = await bench.withAccount();
  await sql('ALTER TABLE storage.object SET (autovacuum_enabled = false)');
  await own.put('work', 'f/1/1', 'x');
  await sql(`INSERT INTO storage.object (account_id, bucket, key, blob_id, bytes, etag, content_type, created_at, updated_at)
    SELECT '${own.accountId}', 'work', convert_to('f/' || n || '/' || m, 'UTF8'), 'blb_' || n || m, 1, 'e', 't', now(), now()
      FROM generate_series(2, 201) n, generate_series(1, 200) m`);
  await own.data('GET', '/v1/storage/object/list?bucket=work&delimiter=/');
  await own.data('GET', '/v1/storage/object/get?bucket=work&key=f/1/1');
});
afterAll(() => bench.stop());

const sql = (text: string) => bench.core.db.query({ name: '', text }, []);

/** Rows of objects and blobs that the statement looks at. */
async function looksAt(name: string, types: string, values: string, settings: readonly string[]): Promise<number> {
  const text = namedStatements.get(name);
  if (text === undefined) throw new Error(`no statement ${name} is loaded`);
  const plan = await bench.core.db.transaction(async (tx: Transaction) => {
    for (const setting of settings) await tx.query({ name: '', text: `SET LOCAL ${setting}` }, []);
    await tx.query({ name: '', text: `PREPARE planned (${types}) AS ${text}` }, []);
    const explained = { name: '', text: `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE planned (${values})` };
    const { rows } = await tx.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(explained, []);
    await tx.query({ name: '', text: 'DEALLOCATE planned' }, []);
    return rows[0]?.['QUERY PLAN'][0].Plan as PlanNode;
  });
  return rowsOf(plan);
}

function rowsOf(node: PlanNode): number {
  const isKept = ['object', 'blob'].includes(node['Relation Name'] ?? '');
  const own = isKept ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'] : 0;
  return own + (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
}

const account = () => `'${own.accountId}'`;
const ofOne = () => `ARRAY[${account()}], ARRAY[${account()}], ARRAY['work'], ARRAY['f/7/7'::bytea]`;

describe.each([
  ['without statistics', []],
  ['with them', ['jit = off']],
] as const)('%s', (what, settings) => {
  beforeAll(() => (what === 'with them' ? sql('ANALYZE storage.object') : undefined));

  test('ten folders are a descent of the index each', async () => {
    const values = `${account()}, 'work', 'f/', 'f0', 11, '/', '0', 2`;
    const types = 'text, text, bytea, bytea, int, bytea, bytea, int';
    expect(await looksAt('storage_list_grouped', types, values, settings)).toBeLessThanOrEqual(24);
  });

  test('a page of keys is read in order, and no more', async () => {
    const values = `${account()}, 'work', 'f/100/', 'f/10000', 11`;
    const rows = await looksAt('storage_list_plain', 'text, text, bytea, bytea, int', values, settings);
    expect(rows).toBeLessThanOrEqual(11);
  });

  test('an object is one row', async () => {
    const types = 'text[], text[], text[], bytea[]';
    expect(await looksAt('storage_select_found', types, ofOne(), settings)).toBeLessThanOrEqual(2);
    expect(await looksAt('storage_select_objects', types, ofOne(), settings)).toBeLessThanOrEqual(1);
  });
});
