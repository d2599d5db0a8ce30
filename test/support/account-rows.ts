// Everything the database holds of one account, to show that a call changed nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import type { Statement } from '../../src/db/statement.ts';

/** Rewritten in the background or by counting calls; none of them is an effect of a call. */
const BACKGROUND = [
  'core.usage_hour',
  'core.request_log',
  'core.audit_log',
  'core.request_dropped',
  'core.event_sequence',
  'core.event_outbox',
  'core.event',
  'core.delivery',
  'core.delivery_line',
  'core.turn',
  'alerts.change',
  'queue.delta',
  'queue.total',
  'queue.sample',
  'storage.expiry',
  'storage.notice',
  // Made once, before anything is asked of it.
  'email.signing_key',
  // What was deleted, until a sweep has removed the rest of it.
  'queue.tombstone',
  'vector.doomed',
  'analytics.deleted',
];
/** Columns that every authenticated call, or delivery in the background, may touch. */
const TOUCHED = ['last_used_at', 'seen_at', 'failed_attempts', 'failing_since'];

/** What counts of tables whose rows are changed by the work behind a call. */
const ONLY: Readonly<Record<string, string>> = {
  'alerts.rule': `SELECT account_id, rule, title, source, fields, above, below, for_seconds, every_seconds, by_labels, severity, labels,
       runbook_url, notify, repeat_seconds, version FROM alerts.rule`,
  'core.mail': 'SELECT account_id, mail_id, recipient, subject, body_text FROM core.mail',
  'video.webhook': 'SELECT account_id, job_id, number, url FROM video.webhook',
  'image.webhook': 'SELECT account_id, job_id, number, url FROM image.webhook',
  // Merges change blocks and no records. Those of the request log come seconds after their calls.
  'core.block': `SELECT account_id, kind, sum(records) AS records FROM core.block
     WHERE replaced_ms IS NULL AND kind <> 'requests' GROUP BY account_id, kind`,
  'core.block_keeping': 'SELECT account_id, kind, keep_days FROM core.block_keeping',
  'core.payment_setup': 'SELECT account_id, setup_id, status, method_id FROM core.payment_setup',
  // When its payment is read again, and by which attempt.
  'core.topup': `SELECT account_id, to_jsonb(p) - 'due_at' - 'attempt' - 'updated_at' AS kept FROM core.topup p`,
  'vector.item':
    'SELECT * FROM vector.item i WHERE NOT EXISTS (SELECT FROM vector.doomed d WHERE d.account_id = i.account_id AND d.collection_id = i.collection_id)',
};

/** Tables that one statement asks for: more of them take no longer, and its plan is made but once for a session. */
const TABLES_PER_STATEMENT = 24;

/** By table in which the account has rows: their number and a digest of them. Beside these the numbers of its events and deliveries. */
export async function accountRows(db: Database, accountId: string): Promise<Record<string, string>> {
  await workDone(db, accountId);
  const statements = await statementsFor(db);
  return db.transaction(async (tx) => {
    tx.cork();
    const answers = statements.map((each) => tx.query<{ name: string; digest: string }>(each, [accountId]));
    const found = (await Promise.all(answers)).flatMap(({ rows }) => rows);
    return Object.fromEntries(found.map(({ name, digest }) => [name, digest]));
  });
}

/** Of tables without a row of the account nothing is answered. */
function digestsOf(tables: readonly string[], index: number): Statement {
  const digests = tables.map((table) => {
    const from = ONLY[table] === undefined ? table : `(${ONLY[table]})`;
    const row = `(${TOUCHED.reduce((text, column) => `${text} - '${column}'`, 'to_jsonb(t)')})::text`;
    return `SELECT '${table}' AS name, count(*) || ' ' || md5(string_agg(${row}, ' ' ORDER BY ${row})) AS digest
              FROM ${from} t WHERE t.account_id = $1 HAVING count(*) > 0`;
  });
  return { name: `test_digests_${index}_${tables.join().length}`, text: digests.join('\nUNION ALL\n') };
}

const countEvents: Statement = {
  name: 'test_count_events',
  text: `SELECT 'events' AS name, ((SELECT count(*) FROM core.event WHERE account_id = $1) + (SELECT count(*) FROM core.event_outbox WHERE account_id = $1))::text AS digest
         UNION ALL
         SELECT 'deliveries' AS name, count(*)::text AS digest FROM core.delivery WHERE account_id = $1`,
};

const known = new WeakMap<Database, Promise<Statement[]>>();

/** Asked once: the catalogue takes longer to read than the rows. */
function statementsFor(db: Database): Promise<Statement[]> {
  let statements = known.get(db);
  if (statements === undefined) {
    statements = makeStatements(db);
    known.set(db, statements);
  }
  return statements;
}

async function makeStatements(db: Database): Promise<Statement[]> {
  const { rows } = await db.query<{ name: string }>(listTables, []);
  const tables = rows.map(({ name }) => name).filter((name) => !BACKGROUND.includes(name));
  const count = Math.ceil(tables.length / TABLES_PER_STATEMENT);
  const parts = Array.from({ length: count }, (_, i) =>
    tables.slice(i * TABLES_PER_STATEMENT, (i + 1) * TABLES_PER_STATEMENT),
  );
  return [...parts.map(digestsOf), countEvents];
}

/** Work that a call began goes on behind it, and changes its own rows: it is waited for. */
async function workDone(db: Database, accountId: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { rows } = await db.query<{ jobs: number }>(countDue, [accountId]);
    if (rows[0]?.jobs === 0) return;
    if (performance.now() > deadline) throw new Error('the work of the account does not end');
    await sleep(50);
  }
}

const countDue = {
  name: 'test_jobs_due',
  text: `SELECT ((SELECT count(*) FROM video.job WHERE account_id = $1 AND due_at IS NOT NULL)
                 + (SELECT count(*) FROM image.job WHERE account_id = $1 AND due_at IS NOT NULL)
                 + (SELECT count(*) FROM email.message WHERE account_id = $1 AND due_at IS NOT NULL AND status <> 'scheduled')
                 + (SELECT count(*) FROM sms.message WHERE account_id = $1 AND due_at IS NOT NULL)
                 + (SELECT count(*) FROM web.crawl WHERE account_id = $1 AND due_at IS NOT NULL)
                 + (SELECT count(*) FROM cron.run WHERE account_id = $1 AND lease_until IS NOT NULL))::int AS jobs`,
};

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
