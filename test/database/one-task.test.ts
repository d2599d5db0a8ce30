// On a distributed engine a statement is for accounts of one shard, and so one task on one node, unless it says that it looks at all.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { namedStatements } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Others are not loaded: some of them start work. */
const HAS_STATEMENTS = /\bstatement\(/;
const IS_FAN_OUT = /^\s*\/\*\s*fan-out:/;
const READS_OR_WRITES = /^\s*(?:\/\*.*?\*\/\s*)?(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/s;
/** The index of VECTOR_ENGINE=pgvector, which is refused on a distributed engine. */
const OF_PGVECTOR = /^vector_pg_/;
/** Tables that name an account, and whose rows are looked for by a secret, a person, a device or a provider's reference. */
const FOUND_WITHOUT_ACCOUNT = `
  api_secret asked device_code identity mail mail_sign_in member operator_link payment_ref person
  sandbox_method sandbox_payment sandbox_return sandbox_subscription session sign_up_claim
`
  .trim()
  .split(/\s+/);
const SAMPLES: Record<string, string> = {
  // An account as good as any, also where a text is read as JSON or as a table.
  text: `'1'`,
  bytea: `'x'`,
  jsonb: `'{}'`,
  jsonpath: `'$'`,
  tsquery: `'a'`,
  boolean: 'true',
  date: `'2026-01-01'`,
  'timestamp with time zone': `'2026-01-01'`,
};

let database: TestDatabase;
let client: pg.Client;
/** Of the same shard as account `1`. */
let neighbour: string;

beforeAll(async () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'));
  for (const path of sources.map((source) => join(ROOT, source)))
    if (HAS_STATEMENTS.test(readFileSync(path, 'utf8'))) await import(path);
  database = await createTestDatabase();
  client = new pg.Client(database.connection);
  await client.connect();
  if (inject('cluster') === null) return;
  const { rows } = await client.query<{ account: string }>(
    `SELECT a::text AS account FROM generate_series(2, 1000) a
      WHERE get_shard_id_for_distribution_column('core.wallet', a::text) = get_shard_id_for_distribution_column('core.wallet', '1'::text) LIMIT 1`,
  );
  neighbour = rows[0]?.account as string;
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Names of the statements of other files of tests, which share this process. */
function namesInTests(): ReadonlySet<string> {
  const sources = globSync('test/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  return new Set(
    sources.flatMap((source) => [...source.matchAll(/statement\(\s*'(\w+)'/g)].map(([, name]) => name as string)),
  );
}

test.runIf(inject('cluster') !== null)(
  'every statement plans as one task on one node, unless it is marked as fan-out',
  async () => {
    const wrong: string[] = [];
    const distributed = await client.query<{ name: string }>('SELECT table_name::text AS name FROM citus_tables');
    expect(distributed.rows.length).toBeGreaterThan(40);
    const ofTests = namesInTests();
    let planned = 0;
    for (const [name, text] of namedStatements) {
      if (ofTests.has(name) || OF_PGVECTOR.test(name) || !READS_OR_WRITES.test(text)) continue;
      if (!distributed.rows.some((table) => text.includes(table.name))) continue;
      planned += 1;
      const problem = await problemOf(text);
      if (problem !== null) wrong.push(`${name}: ${problem}`);
    }
    expect(wrong).toEqual([]);
    expect(planned).toBeGreaterThan(300);
  },
);

test.runIf(inject('cluster') !== null)(
  'a statement without its account is found out, and one that cannot be planned',
  async () => {
    expect(await problemOf('SELECT w.balance_nanos FROM core.wallet w WHERE w.balance_nanos > $1::bigint')).toMatch(
      /tasks/,
    );
    expect(
      await problemOf(
        `INSERT INTO core.event_sequence (account_id, last_sequence) SELECT a.account_id, 0 FROM unnest($1::text[]) a(account_id)`,
      ),
    ).toMatch(/coordinator/);
    expect(await problemOf('UPDATE core.hold SET expires_at = clock_timestamp() WHERE account_id = $1')).toMatch(
      /VOLATILE/,
    );
  },
);

test.runIf(inject('cluster') !== null)(
  'all rows of an account lie on the node of the account; only what is found without an account is on every node',
  async () => {
    const { rows } = await client.query<{ name: string; lies: string }>(
      `SELECT c.oid::regclass::text AS name,
              CASE WHEN d.colocationid = a.colocationid THEN 'with its account' WHEN d.partmethod = 'n' THEN 'everywhere' ELSE 'elsewhere' END AS lies
         FROM pg_class c
         JOIN pg_attribute k ON k.attrelid = c.oid AND k.attname = 'account_id' AND c.relkind IN ('r', 'p')
         LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.oid
         JOIN pg_dist_partition a ON a.logicalrelid = 'core.account'::regclass`,
    );
    expect(rows.length).toBeGreaterThan(40);
    const others = rows.filter(({ lies }) => lies !== 'with its account').map(({ name, lies }) => `${name} ${lies}`);
    expect(others.sort()).toEqual(
      [
        ...FOUND_WITHOUT_ACCOUNT.map((table) => `core.${table}`),
        'dns.domain',
        'dns.zone_name',
        'email.inbox_address',
        'storage.cors_bucket',
      ].map((table) => `${table} everywhere`),
    );
  },
);

/** Why the statement may not be; null when it is one task, or marked. */
async function problemOf(text: string): Promise<string | null> {
  try {
    const plan = await planOf(text);
    const tasks = [...plan.matchAll(/"Task Count":(\d+)/g)].map(([, count]) => Number(count));
    if (IS_FAN_OUT.test(text)) return null;
    if (/pull to coordinator|repartition/.test(plan)) return 'its rows pass through the coordinator';
    return tasks.length > 1 || tasks.some((count) => count > 1) ? `${tasks.join(' and ')} tasks` : null;
  } catch (error) {
    return (error as Error).message;
  }
}

async function planOf(text: string): Promise<string> {
  await client.query(`PREPARE asked AS ${text}`);
  try {
    const known = await client.query<{ types: string[] }>(
      `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'asked'`,
    );
    const values = (known.rows[0]?.types ?? []).map(sampleOf).join();
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE asked${values === '' ? '' : `(${values})`}`);
    return JSON.stringify(rows[0]['QUERY PLAN']);
  } finally {
    await client.query('DEALLOCATE asked');
  }
}

/** A literal of the type: one account, or two of one shard; one of everything. */
function sampleOf(type: string): string {
  if (!type.endsWith('[]')) return SAMPLES[type] ?? '1';
  if (type === 'text[]') return `ARRAY['1', '${neighbour}']`;
  return `ARRAY[${sampleOf(type.slice(0, -2))}]::${type}`;
}
