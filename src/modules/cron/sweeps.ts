// Retention: runs, including those of deleted jobs, and completed jobs are removed after 30 days.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { removeOldRows } from '../../core/background/sweeper/sweep.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { KEEP_DAYS } from './limits.ts';

const findOldRuns = statement(
  'cron_find_old_runs',
  `/* fan-out: runs that are over and older than 30 days */
   SELECT r.account_id, r.run_id AS id FROM cron.run r
    WHERE r.started_at <= core.clock_now() - interval '${KEEP_DAYS} days' AND r.lease_until IS NULL ORDER BY r.started_at LIMIT $1`,
);
const removeOldRuns = statement(
  'cron_remove_old_runs',
  'DELETE FROM cron.run WHERE account_id = $1 AND run_id = ANY($2::text[]) AND lease_until IS NULL',
);
const findOldJobs = statement(
  'cron_find_old_jobs',
  `/* fan-out: jobs completed more than 30 days ago */
   SELECT j.account_id, j.job_id AS id FROM cron.job j
    WHERE j.status = 'completed' AND j.updated_at <= core.clock_now() - interval '${KEEP_DAYS} days' ORDER BY j.updated_at LIMIT $1`,
);
const removeOldJobs = statement(
  'cron_remove_old_jobs',
  `DELETE FROM cron.job
    WHERE account_id = $1 AND job_id = ANY($2::text[])
      AND status = 'completed' AND updated_at <= core.clock_now() - interval '${KEEP_DAYS} days'`,
);

export function cronSweeps(db: Database): Sweep[] {
  const sweep = (name: string, find: Statement, remove: Statement): Sweep => ({
    name,
    intervalMs: 30_000,
    run: removeOldRows<{ account_id: string; id: string }>(db, {
      find,
      remove,
      keys: (rows) => [textArray(rows.map(({ id }) => id))],
    }),
  });
  return [sweep('cron.runs', findOldRuns, removeOldRuns), sweep('cron.jobs', findOldJobs, removeOldJobs)];
}
