// Reads of jobs, as the operations show them.

import type { CallContext } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Queryable } from '../../../db/database.ts';
import { problem } from '../../../problems/problem.ts';
import type { VideoState } from '../state.ts';
import { jobRecord } from './record.ts';
import type { JobRow } from './row.ts';
import { findJob } from './store.ts';
import { webhooksOf } from './webhooks.ts';

/** Throws JOB_NOT_FOUND. */
export async function requireJob(db: Queryable, accountId: string, jobId: string): Promise<JobRow> {
  const job = await findJob(db, accountId, jobId);
  if (job === null) throw problem('JOB_NOT_FOUND', { param: 'id' });
  return job;
}

/** Their records, in the same order, with links that work from now on. */
export async function showJobs(
  { shown }: Pick<VideoState, 'shown'>,
  db: Queryable,
  accountId: string,
  jobs: readonly JobRow[],
) {
  const [webhooks, nowMs] = await Promise.all([
    webhooksOf(
      db,
      accountId,
      jobs.map(({ job_id }) => job_id),
    ),
    clockNow(db),
  ]);
  return jobs.map((job) => jobRecord(job, webhooks.get(job.job_id) ?? [], { ...shown, nowMs }));
}

/** The job, if it has a video that is kept. Throws JOB_NOT_FOUND and STATE_CONFLICT. */
export async function keptVideo({ core: { db }, accountId }: CallContext, jobId: string): Promise<JobRow> {
  const [job, nowMs] = await Promise.all([requireJob(db, accountId, jobId), clockNow(db)]);
  if (job.state !== 'succeeded')
    throw problem('STATE_CONFLICT', {
      param: 'id',
      detail: job.state,
      message: `The job is ${job.state}: it has no video.`,
    });
  if (job.video === null || (job.expires_at ?? 0) <= nowMs)
    throw problem('STATE_CONFLICT', {
      param: 'id',
      detail: 'output_expired',
      message: 'The video is not kept any more.',
    });
  return job;
}
