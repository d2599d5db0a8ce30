// Purge of deleted accounts. Their webhooks stop after a day. After a week all their data is removed, in bounded steps that another process
// continues if one dies. The ledger stays, without names.

import { setImmediate as turn } from 'node:timers/promises';
import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { mendEach } from '../../core/background/sweeper/sweep.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { providerOf } from '../../payments/at-provider.ts';
import { listMethods } from '../../payments/methods/store.ts';
import type { PaymentsPart } from '../../payments/terms.ts';
import { forgetPeople } from '../../people/forget-people.ts';
import { DELETED, RESTORE_MS, SILENT_AFTER_MS } from './deletion.ts';

/** What is kept of an account: its books, and what shows that it had its sign-up credit. Everything else that names it is removed. */
export const kept: ReadonlySet<string> = new Set([
  'core.account',
  'core.wallet',
  'core.ledger',
  'core.ledger_folded',
  'core.ledger_total',
  'core.credit_grant',
  'core.accepted_units',
  'core.hold',
  'core.usage_hour',
  'core.topup',
  'core.clawback',
  'core.subscription',
  'core.recharge_attempt',
  'core.payment_ref',
  'core.vendor_bill',
  'core.absorption',
  'core.sign_up_claim',
  // What the payment provider knows, where this service is the provider.
  'core.sandbox_payment',
  'core.sandbox_return',
  'core.sandbox_method',
  'core.sandbox_subscription',
]);

const INTERVAL_MS = 10_000;
const ACCOUNTS_PER_RUN = 20;
const ROWS_PER_STEP = 2_000;

const findDue = statement(
  'account_find_purges',
  `/* fan-out: deleted accounts whose next step is due */
   SELECT a.account_id, a.purge_step AS step FROM core.account a
    WHERE a.purge_step IN ('asked', 'silent', 'purging')
      AND a.purge_at <= core.clock_now() + CASE WHEN a.purge_step = 'asked' THEN $1 ELSE 0 END * interval '1 millisecond'
    ORDER BY a.purge_at LIMIT $2`,
);
const setStep = statement(
  'account_set_purge_step',
  'UPDATE core.account SET purge_step = $3 WHERE account_id = $1 AND purge_step = ANY($2::text[])',
);
const silence = statement(
  'account_silence_webhooks',
  `UPDATE core.webhook SET status = 'disabled', disabled_reason = $2, disabled_at = $3
    WHERE account_id = $1 AND status = 'enabled'`,
);
// Keys that the row has; those of partitions are those of their table.
const selectTables = statement(
  'account_tables',
  `/* fan-out: names of tables */
   SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
          (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
             FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
            WHERE i.indrelid = c.oid AND i.indisprimary) AS key
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
      AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped)
    ORDER BY 1`,
);
const forgetName = statement(
  'account_forget_name',
  `UPDATE core.account SET name = NULL, email = NULL, email_bound = false, mails = false, purge_step = 'purged', updated_at = $2
    WHERE account_id = $1 AND purge_step = 'purging'`,
);
const forgetLinks = [
  statement(
    'account_forget_topup_links',
    'UPDATE core.topup SET return_url = NULL, checkout_url = NULL WHERE account_id = $1',
  ),
  statement(
    'account_forget_subscription_links',
    'UPDATE core.subscription SET return_url = NULL, checkout_url = NULL WHERE account_id = $1',
  ),
  // What left it has arrived long ago.
  statement('account_forget_absorbed', 'UPDATE core.absorption SET content = NULL WHERE account_id = $1'),
];

type Purging = PaymentsPart & Pick<Core, 'db'>;
interface DueRow {
  readonly account_id: string;
  readonly step: 'asked' | 'silent' | 'purging';
}

export function purgeSweep(core: Purging): Sweep {
  return {
    name: 'accounts.purge',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      const { rows } = await core.db.query<DueRow>(findDue, [RESTORE_MS - SILENT_AFTER_MS, ACCOUNTS_PER_RUN]);
      const finished = await mendEach(rows, signal, async ({ account_id, step }) => {
        if (step === 'asked') await core.db.transaction((tx) => silenceAccount(tx, account_id));
        else await purge(core, account_id, signal);
      });
      return finished && rows.length === ACCOUNTS_PER_RUN;
    },
  };
}

async function silenceAccount(tx: Transaction, accountId: string): Promise<void> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) return;
  const { count } = await tx.query(setStep, [accountId, textArray(['asked']), 'silent']);
  if (count > 0) await tx.query(silence, [accountId, DELETED, timestamp(nowMs)]);
}

/**
 * From its first step on it cannot be restored. What was at work meanwhile may write once more, an event after those that were removed:
 * the purge has ended when a run finds nothing, not when it has removed everything.
 */
async function purge(core: Purging, accountId: string, signal: AbortSignal): Promise<void> {
  const { db } = core;
  const begun = await db.transaction(async (tx) => {
    if ((await lockAccount(tx, accountId)) === null) return false;
    return (await tx.query(setStep, [accountId, textArray(['silent', 'purging']), 'purging'])).count > 0;
  });
  if (!begun) return;
  await detachMethods(core, accountId);
  await forgetPeople(db, accountId);
  const tables = await tablesWithRows(core, accountId);
  for (const { name, key } of tables) {
    while (!signal.aborted && (await eraseSome(db, accountId, name, key)) === ROWS_PER_STEP) await turn();
  }
  if (tables.length > 0) return;
  await db.transaction(async (tx) => {
    const nowMs = await lockAccount(tx, accountId);
    if (nowMs === null) return;
    for (const forget of forgetLinks) await tx.query(forget, [accountId]);
    await tx.query(forgetName, [accountId, timestamp(nowMs)]);
  });
}

/** Its cards are of no use to anybody at the payment provider either. */
async function detachMethods({ db, payments }: Purging, accountId: string): Promise<void> {
  for (const method of await listMethods(db, accountId)) await providerOf(payments, method)?.detach(method.method_ref);
}

interface ErasedTable {
  readonly name: string;
  /** Its columns that name a row, separated by commas. */
  readonly key: string;
}

/** Tables of which rows of an account are removed. */
export async function erasedTables({ db }: Pick<Purging, 'db'>): Promise<ErasedTable[]> {
  const { rows } = await db.query<ErasedTable>(selectTables, []);
  return rows.filter(({ name }) => !kept.has(name));
}

/** In one statement: of rows that move from one table to another it sees either. */
async function tablesWithRows({ db }: Purging, accountId: string): Promise<ErasedTable[]> {
  const tables = await erasedTables({ db });
  const looks = tables.map(({ name }) => `(SELECT '${name}' AS name FROM ${name} WHERE account_id = $1 LIMIT 1)`);
  const { rows } = await db.query<{ name: string }>({ name: '', text: looks.join(' UNION ALL ') }, [accountId]);
  const filled = new Set(rows.map(({ name }) => name));
  return tables.filter(({ name }) => filled.has(name));
}

async function eraseSome(db: Database, accountId: string, name: string, key: string): Promise<number> {
  const some = `SELECT ${key} FROM ${name} WHERE account_id = $1 LIMIT $2`;
  const text = `DELETE FROM ${name} WHERE account_id = $1 AND (${key}) IN (${some})`;
  return (await db.query({ name: '', text }, [accountId, ROWS_PER_STEP])).count;
}
