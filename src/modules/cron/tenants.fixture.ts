// Tenant-isolation fixture of schedules, for the contract tests: creates them, and lists calls of another account that name them.
import { statement } from '../../db/statement.ts';
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

const yearly = { task: 'https://example.org/tasks', cron_expr: '0 0 29 2 *' };

const insertRuns = statement(
  'fixture_insert_runs',
  `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, finished_at, status, attempt, cost_nanos)
   SELECT j.account_id, 'run_' || n, j.job_id, j.created_at - n * interval '1 minute', j.created_at, j.created_at, 'succeeded', 1, 0
     FROM cron.job j, generate_series(1, $3) n WHERE j.account_id = $1 AND j.job_id = $2`,
);

export const tenants: TenantFixture = {
  first: 'cron.create',
  nobody: { job: 'cron_1111111111111111111111' },
  async fill(tenant) {
    const [job] = [await tenant.act('cron.create', yearly), await tenant.act('cron.create', yearly)];
    // Runs that are over, as the background would have made them.
    await tenant.db.query(insertRuns, [tenant.accountId, job.job_id, 2]);
    return { job: job.job_id };
  },
  async fillOther({ act }) {
    return { job: (await act('cron.create', yearly)).job_id };
  },
  aims: {
    'cron.create': [],
    'cron.get': [(names) => ({ job_id: names.job })],
    'cron.runs': [(names) => ({ job_id: names.job })],
    'cron.update': [
      (names) => ({ job_id: names.job, name: 'taken' }),
      (names) => ({ job_id: names.job, task: 'https://example.org/other', secret: null }),
    ],
    'cron.pause': [(names) => ({ job_id: names.job })],
    'cron.resume': [(names) => ({ job_id: names.job })],
    'cron.run': [(names) => ({ job_id: names.job })],
    'cron.delete': [(names) => ({ job_id: names.job })],
  },
  lists: {
    'cron.runs': ({ job }) => ({ job_id: job }),
  },
};
