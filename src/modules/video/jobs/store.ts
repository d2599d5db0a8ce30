// SQL of jobs. Every change of a job's state counts its version; whoever ends a job says which version it has seen, so that of two ends
// one wins. A step's other changes are fenced by its attempt.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { JobRow, JobState } from './row.ts';

export const jobColumns = `j.account_id, j.job_id, j.operation, j.parent_job_id, j.key_id, j.request_id, j.trace_id, j.entry_form, j.state, j.version,
          j.vendor, j.model, j.request, j.chain, j.place AS position, j.left_reason, j.store, j.retention_days, j.hold_id, j.held_nanos,
          j.storage_nanos, j.work, j.due_at, j.attempt, j.progress_pct, j.current_step, j.expected_ms, j.created_at, j.running_at,
          j.deadline_at, j.finished_at, j.ended, j.cost_nanos, j.film AS video, j.warnings, j.expires_at, j.deleted, j.worker_id, j.deaths`;

const selectJob = statement(
  'video_select_job',
  `SELECT ${jobColumns} FROM video.job j WHERE j.account_id = $1 AND j.job_id = $2`,
);
const lockJobRow = statement(
  'video_lock_job',
  `SELECT ${jobColumns} FROM video.job j WHERE j.account_id = $1 AND j.job_id = $2 FOR UPDATE`,
);
const selectJobs = statement(
  'video_select_jobs',
  `SELECT ${jobColumns}
     FROM video.job j
    WHERE j.account_id = $1 AND NOT j.deleted AND ($2::text IS NULL OR j.job_id < $2::text)
      AND ($3::text IS NULL OR j.state = $3::text) AND ($4::text IS NULL OR j.model = $4::text)
      AND ($5::text IS NULL OR j.vendor = $5::text) AND ($6::text IS NULL OR j.parent_job_id = $6::text)
    ORDER BY j.job_id DESC
    LIMIT $7::int`,
);
const selectJobsUpwards = statement(
  'video_select_jobs_upwards',
  `SELECT ${jobColumns}
     FROM video.job j
    WHERE j.account_id = $1 AND NOT j.deleted AND ($2::text IS NULL OR j.job_id > $2::text)
    ORDER BY j.job_id
    LIMIT $3::int`,
);
const selectLive = statement(
  'video_select_live',
  `SELECT j.job_id FROM video.job j
    WHERE j.account_id = $1 AND j.job_id = ANY($2::text[]) AND (j.state IN ('queued', 'running') OR j.cost_nanos IS NULL)`,
);

export const jobIdPattern = /^vid_[0-9A-Za-z]{20,40}$/;

/** Null when the account has no such job, or deleted it. What no job of ours can be named is not looked up. */
export async function findJob(db: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
  if (!jobIdPattern.test(jobId)) return null;
  const [row] = (await db.query<JobRow>(selectJob, [accountId, jobId])).rows;
  return row === undefined || row.deleted ? null : row;
}

/** Deleted ones too. */
export async function readJob(db: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
  return (await db.query<JobRow>(selectJob, [accountId, jobId])).rows[0] ?? null;
}

/** As it is now, and until the transaction ends; deleted ones too. */
export async function lockJob(tx: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
  if (!jobIdPattern.test(jobId)) return null;
  return (await tx.query<JobRow>(lockJobRow, [accountId, jobId])).rows[0] ?? null;
}

export interface JobFilter {
  readonly state: JobState | null;
  readonly model: string | null;
  readonly vendor: string | null;
  readonly parentId: string | null;
}

/** Newest first, those before `beforeId` (null: all). */
export async function listJobs(
  db: Queryable,
  accountId: string,
  { state, model, vendor, parentId }: JobFilter,
  beforeId: string | null,
  limit: number,
): Promise<JobRow[]> {
  return (await db.query<JobRow>(selectJobs, [accountId, beforeId, state, model, vendor, parentId, limit])).rows;
}

/** All jobs, oldest first, those behind `afterId` (null: all). */
export async function listJobsUpwards(
  db: Queryable,
  accountId: string,
  afterId: string | null,
  limit: number,
): Promise<JobRow[]> {
  return (await db.query<JobRow>(selectJobsUpwards, [accountId, afterId, limit])).rows;
}

/** Of these jobs those whose money is not settled: what owns a hold. */
export async function unsettledJobs(db: Queryable, accountId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ job_id: string }>(selectLive, [accountId, textArray(ids)]);
  return new Set(rows.map(({ job_id }) => job_id));
}
