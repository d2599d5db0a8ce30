// What all steps of live jobs share: which jobs are due, the lease of a step, and what it writes while it goes on. A step is fenced by its
// attempt, and by the job's being live: a job that was cancelled is written no more.
import type { Claimed, LeasedJob, Wanted } from '../../../core/background/due-work.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { JobRow } from '../jobs/row.ts';
import { jobColumns } from '../jobs/store.ts';
import { LEASE_MS } from '../limits.ts';

/** A job whose step is leased to this process. */
export interface Step extends LeasedJob {
  readonly job: JobRow;
}

const claim = statement(
  'video_claim',
  `WITH c AS MATERIALIZED (
     SELECT j.job_id, core.clock_now() + $5 * interval '1 millisecond' AS lease_end
       FROM video.job j
      WHERE j.account_id = $1 AND j.work = $2 AND j.due_at <= core.clock_now() AND j.job_id <> ALL($4::text[])
      ORDER BY j.due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   UPDATE video.job j SET due_at = c.lease_end, attempt = j.attempt + 1
     FROM c WHERE j.account_id = $1 AND j.job_id = c.job_id
   RETURNING ${jobColumns}`,
);
const nextDue = statement(
  'video_next_due',
  `SELECT j.due_at FROM video.job j WHERE j.account_id = $1 AND j.work = $2 AND j.due_at IS NOT NULL ORDER BY j.due_at LIMIT 1`,
);
const keepStep = statement(
  'video_keep_step',
  `WITH c AS MATERIALIZED (SELECT core.clock_now() + $6 * interval '1 millisecond' AS lease_end)
   UPDATE video.job j
      SET due_at = c.lease_end, progress_pct = greatest(j.progress_pct, $4), current_step = $5
     FROM c WHERE j.account_id = $1 AND j.job_id = $2 AND j.attempt = $3 AND j.state IN ('queued', 'running')`,
);
const beginRunning = statement(
  'video_begin_running',
  `UPDATE video.job
      SET state = 'running', version = version + 1, running_at = $4, current_step = $5, expected_ms = $6
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND state = 'queued'`,
);
const putBack = statement(
  'video_put_back',
  'UPDATE video.job SET due_at = $4 WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND due_at IS NOT NULL',
);

/** Leases due steps of one kind of work. */
export async function claimSteps(
  tx: Transaction,
  work: string,
  accountId: string,
  { limit, underWay }: Wanted,
): Promise<Claimed<Step>> {
  const [claimed, left] = await Promise.all([
    tx.query<JobRow>(claim, [accountId, work, limit, textArray(underWay), LEASE_MS]),
    tx.query<{ due_at: number }>(nextDue, [accountId, work]),
  ]);
  const jobs = claimed.rows.map((job) => ({ accountId, id: job.job_id, attempt: job.attempt, job }));
  return { jobs, nextMs: left.rows[0]?.due_at ?? null };
}

/** Renews the lease and says how far the step is. False: the step is not ours any more, or the job has ended. */
export async function stepGoesOn(
  db: Queryable,
  { accountId, id, attempt }: Step,
  progressPct: number | null,
  what: string | null,
): Promise<boolean> {
  return (await db.query(keepStep, [accountId, id, attempt, progressPct, what, LEASE_MS])).count === 1;
}

/** The work has begun: answers the job as it is then; null when the step is not ours any more, or the job has ended. */
export async function stepRuns(
  db: Queryable,
  { accountId, id, attempt, job }: Step,
  nowMs: number,
  what: string,
  expectedMs: number | null,
): Promise<JobRow | null> {
  if (job.state === 'running') return job;
  const expected = expectedMs === null ? null : BigInt(Math.round(expectedMs));
  const { count } = await db.query(beginRunning, [accountId, id, attempt, new Date(nowMs), what, expected]);
  if (count !== 1) return null;
  return {
    ...job,
    state: 'running',
    version: job.version + 1,
    running_at: nowMs,
    current_step: what,
    expected_ms: expected,
  };
}

/** The step, or the next one, is due at `dueMs`. */
export async function stepDue(db: Queryable, { accountId, id, attempt }: Step, dueMs: number): Promise<void> {
  await db.query(putBack, [accountId, id, attempt, new Date(dueMs)]);
}
