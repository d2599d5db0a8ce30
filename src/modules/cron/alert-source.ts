// What alerts watch of schedules: those whose last run failed, or was not made.
import Type from 'typebox';
import { statement } from '../../db/statement.ts';
import { alertSource } from '../../kit/alert-source.ts';
import { problem } from '../../problems/problem.ts';
import { jobTable } from './jobs/store.ts';
import { jobIdField } from './schemas.ts';
import type { CronState } from './state.ts';

const SERIES_MAX = 1_000;

const listFailing = statement(
  'cron_alert_failing',
  `SELECT j.job_id FROM cron.job j
    WHERE j.account_id = $1 AND ($2::text IS NULL OR j.job_id = $2) AND j.status = 'active' AND j.last_run IS NOT NULL
      AND j.last_run::json->>'status' IN ('failed', 'skipped')
    ORDER BY j.job_id LIMIT ${SERIES_MAX}`,
);

export const cronSource = alertSource<CronState>()({
  name: 'cron',
  capability: 'cron.list',
  by: ['job_id'],
  errors: ['JOB_NOT_FOUND'],
  schema: Type.Object(
    { job_id: Type.Optional(jobIdField) },
    { description: 'Active schedules whose last run failed or was skipped: how many, of all or 1 of one. by: job_id.' },
  ),
  async check({ core }, ctx, { when: { job_id: id } }) {
    if (id === undefined || (await jobTable.find(core.db, ctx, id)) !== null) return [];
    throw problem('JOB_NOT_FOUND', { param: 'job_id' });
  },
  async look({ core }, { accountId, when: { job_id: id = null }, by }) {
    const { rows } = await core.db.query<{ job_id: string }>(listFailing, [accountId, id]);
    if (by.length === 0) return [{ labels: {}, value: rows.length }];
    return rows.map((row) => ({ labels: { job_id: row.job_id }, value: 1 }));
  },
});
