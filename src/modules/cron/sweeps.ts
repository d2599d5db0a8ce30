// Retention: runs, those of deleted jobs included, and completed jobs go after 30 days.
import { mendEach } from '../../core/sweeper/mend-each.ts';
import type { Sweep } from '../../core/sweeper/sweep.ts';
import type { Database } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { KEEP_DAYS } from './limits.ts';

const ACCOUNTS_PER_SWEEP = 200;
const ROWS_PER_TRANSACTION = 1_000;

const findOldRuns = statement(
  'cron_find_old_runs',
  `/* fan-out: accounts with runs older than 30 days */
   SELECT account_id FROM cron.run WHERE started_at <= core.clock_now() - interval '${KEEP_DAYS} days' GROUP BY account_id LIMIT $1`,
);
const deleteOldRuns = statement(
  'cron_delete_old_runs',
  `WITH c AS MATERIALIZED (
     SELECT run_id FROM cron.run WHERE account_id = $1 AND started_at <= core.clock_now() - interval '${KEEP_DAYS} days'
      ORDER BY run_id LIMIT $2 FOR UPDATE SKIP LOCKED
   )
   DELETE FROM cron.run AS r USING c WHERE r.account_id = $1 AND r.run_id = c.run_id`,
);
const findOldJobs = statement(
  'cron_find_old_jobs',
  `/* fan-out: accounts with jobs completed more than 30 days ago */
   SELECT account_id FROM cron.job WHERE status = 'completed' AND updated_at <= core.clock_now() - interval '${KEEP_DAYS} days'
    GROUP BY account_id LIMIT $1`,
);
const deleteOldJobs = statement(
  'cron_delete_old_jobs',
  `WITH c AS MATERIALIZED (
     SELECT job_id FROM cron.job
      WHERE account_id = $1 AND status = 'completed' AND updated_at <= core.clock_now() - interval '${KEEP_DAYS} days'
      LIMIT $2 FOR UPDATE SKIP LOCKED
   )
   DELETE FROM cron.job AS j USING c WHERE j.account_id = $1 AND j.job_id = c.job_id`,
);

export function cronSweeps(db: Database): Sweep[] {
  const sweep = (name: string, find: Statement, remove: Statement): Sweep => ({
    name,
    intervalMs: 30_000,
    run: (signal) => removeOld(db, find, remove, signal),
  });
  return [sweep('cron.runs', findOldRuns, deleteOldRuns), sweep('cron.jobs', findOldJobs, deleteOldJobs)];
}

async function removeOld(db: Database, find: Statement, remove: Statement, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<{ account_id: string }>(find, [ACCOUNTS_PER_SWEEP]);
  let full = rows.length === ACCOUNTS_PER_SWEEP;
  const finished = await mendEach(rows, signal, async ({ account_id }) => {
    const { count } = await db.query(remove, [account_id, ROWS_PER_TRANSACTION]);
    full ||= count === ROWS_PER_TRANSACTION;
  });
  return finished && full;
}
