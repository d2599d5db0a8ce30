// Everything the database holds of one account, to show that a call changed nothing.
import type { Database } from '../../src/db/database.ts';

/** Rewritten in the background or by counting calls; none of them is an effect of a call. */
const BACKGROUND = [
  'core.usage_hour',
  'core.event_sequence',
  'core.event_outbox',
  'core.event',
  'core.delivery',
  'core.delivery_line',
  'core.turn',
  'queue.delta',
  'queue.total',
];
/** Columns that every authenticated call, or delivery in the background, may touch. */
const TOUCHED = ['last_used_at', 'seen_at', 'failed_attempts', 'failing_since'];

/** Digest of the account's rows by table, the numbers of its events and deliveries, and the exact figures of its queues. */
export async function accountRows(db: Database, accountId: string): Promise<Record<string, string>> {
  const tables = (await db.query<{ name: string }>(listTables, [])).rows.map(({ name }) => name);
  const digests = tables
    .filter((name) => !BACKGROUND.includes(name))
    .map((name) => {
      const row = TOUCHED.reduce((text, column) => `${text} - '${column}'`, 'to_jsonb(t)');
      return `SELECT '${name}' AS name, count(*) || ' ' || coalesce(md5(string_agg((${row})::text, ' ' ORDER BY (${row})::text)), '') AS digest FROM ${name} t WHERE t.account_id = $1`;
    });
  const events = `SELECT 'events' AS name, ((SELECT count(*) FROM core.event WHERE account_id = $1) + (SELECT count(*) FROM core.event_outbox WHERE account_id = $1))::text AS digest`;
  const deliveries = `SELECT 'deliveries' AS name, count(*)::text AS digest FROM core.delivery WHERE account_id = $1`;
  const text = [...digests, events, deliveries].join('\nUNION ALL\n');
  const { rows } = await db.query<{ name: string; digest: string }>({ name: `test_rows_${tables.length}`, text }, [
    accountId,
  ]);
  return Object.fromEntries(rows.map((row) => [row.name, row.digest]));
}

const listTables = {
  name: 'test_tables_of_accounts',
  text: `SELECT c.table_schema || '.' || c.table_name AS name
           FROM information_schema.columns c
           JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
          WHERE c.column_name = 'account_id' AND t.table_type = 'BASE TABLE'
            -- partitions come and go, and their rows are those of their table
            AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = format('%I.%I', c.table_schema, c.table_name)::regclass)
          ORDER BY 1`,
};
