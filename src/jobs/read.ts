// Reads jobs for the operations.
import { clockNow } from '../core/database-clock.ts';
import type { Queryable } from '../db/database.ts';
import { problem } from '../problems/problem.ts';
import type { JobHost, JobTables } from './kind.ts';
import type { JobRow } from './row.ts';

/** Throws JOB_NOT_FOUND. */
export async function requireJob(
  { store }: Pick<JobTables, 'store'>,
  db: Queryable,
  accountId: string,
  jobId: string,
): Promise<JobRow> {
  const job = await store.find(db, accountId, jobId);
  if (job === null) throw problem('JOB_NOT_FOUND', { param: 'job_id' });
  return job;
}

/** Their records, in the same order, with links that work from now on. */
export async function showJobs(
  { kind, shown }: Pick<JobHost, 'kind' | 'shown'>,
  db: Queryable,
  accountId: string,
  jobs: readonly JobRow[],
) {
  const ids = jobs.map(({ job_id }) => job_id);
  const [webhooks, nowMs] = await Promise.all([kind.tables.webhooks.of(db, accountId, ids), clockNow(db)]);
  return jobs.map((job) => kind.record(job, webhooks.get(job.job_id) ?? [], { ...shown, nowMs }));
}

/** The job, if what it made is kept. Throws JOB_NOT_FOUND and STATE_CONFLICT. */
export async function keptJob(
  { shape: { name }, store }: Pick<JobTables, 'shape' | 'store'>,
  db: Queryable,
  accountId: string,
  jobId: string,
): Promise<JobRow> {
  const [job, nowMs] = await Promise.all([requireJob({ store }, db, accountId, jobId), clockNow(db)]);
  const conflict = (detail: string, message: string) => problem('STATE_CONFLICT', { param: 'job_id', detail, message });
  if (job.state !== 'succeeded') throw conflict(job.state, `The job is ${job.state}: it has no ${name}.`);
  if (job.made === null || (job.expires_at ?? 0) <= nowMs)
    throw conflict('output_expired', `The ${name} is not kept any more.`);
  return job;
}
