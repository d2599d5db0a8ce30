// What all steps of live jobs share: which jobs are due, the lease of a step, and what it writes while it goes on. A step is fenced by its
// attempt, and by the job's being live: a job that was cancelled is written no more.
import { hostname } from 'node:os';
import type { Claimed, LeasedJob, Wanted } from '../../../core/background/due-work.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { problem } from '../../../problems/problem.ts';
import type { FailoverReason } from '../../../vendors/call/port.ts';
import type { JobRow, Link } from '../jobs/row.ts';
import { jobColumns } from '../jobs/store.ts';
import { LEASE_MS, SANDBOX_WORK } from '../limits.ts';

/** As envelopes name this process. */
const WORKER_ID = `${hostname()}-${process.pid}`;

/** A job whose step is leased to this process. */
export interface Step extends LeasedJob {
  readonly job: JobRow;
  /** What takes long, and how far it is: told with every renewal of the lease. Null: nothing does, and the lease outlasts the step. */
  doing: { readonly what: string; pct: number | null } | null;
}

/** 100 is for what has succeeded. */
const PCT_MAX = 99;
/** Once a second a step that takes long says that it lives, and hears when its job has ended. */
const TELL_EVERY_MS = 1_000;

export const FETCHING = 'fetching the video';
/** What is done here with what others made, and may be why a process dies; polls and submissions are not. */
const DIED_AT_WORK = `j.leased AND (j.work = '${SANDBOX_WORK}' OR j.current_step = '${FETCHING}')`;
const IS_SUSPECT = `(j.deaths > 0 OR coalesce(${DIED_AT_WORK}, false))`;

const claim = statement(
  'video_claim',
  `WITH c AS MATERIALIZED (
     SELECT j.job_id, core.clock_now() + $5 * interval '1 millisecond' AS lease_end
       FROM video.job j
      WHERE j.account_id = $1 AND j.work = $2 AND j.due_at <= core.clock_now() AND j.job_id <> ALL($4::text[]) AND ${IS_SUSPECT} = $7
      ORDER BY j.due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   UPDATE video.job j SET due_at = c.lease_end, attempt = j.attempt + 1, leased = true, worker_id = $6,
          deaths = j.deaths + CASE WHEN ${DIED_AT_WORK} THEN 1 ELSE 0 END
     FROM c WHERE j.account_id = $1 AND j.job_id = c.job_id
   RETURNING ${jobColumns}`,
);
const findSuspect = statement(
  'video_find_suspect',
  `SELECT 1 AS found FROM video.job j
    WHERE j.account_id = $1 AND j.work = $2 AND j.due_at <= core.clock_now() AND j.job_id <> ALL($3::text[]) AND ${IS_SUSPECT} LIMIT 1`,
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
     FROM c WHERE j.account_id = $1 AND j.job_id = $2 AND j.attempt = $3 AND j.leased AND j.state IN ('queued', 'running')`,
);
const beginRunning = statement(
  'video_begin_running',
  `UPDATE video.job
      SET state = 'running', version = version + 1, running_at = $4, current_step = $5, expected_ms = $6
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND state = 'queued'`,
);
const chooseVendor = statement(
  'video_choose_vendor',
  `UPDATE video.job SET place = $4, vendor = $5, model = $6, left_reason = $7
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND state IN ('queued', 'running')`,
);
const lookAgain = statement(
  'video_look_again',
  `UPDATE video.job SET due_at = $5, leased = false, deaths = 0, progress_pct = greatest(progress_pct, $6), current_step = $7
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND version = $4`,
);
const putBack = statement(
  'video_put_back',
  `UPDATE video.job SET due_at = $4, leased = false
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND due_at IS NOT NULL`,
);

/** Leases due steps of one kind of work. */
export async function claimSteps(
  tx: Transaction,
  work: string,
  accountId: string,
  { limit, underWay, suspects }: Wanted,
): Promise<Claimed<Step>> {
  const ids = textArray(underWay);
  const [claimed, left] = await Promise.all([
    tx.query<JobRow>(claim, [accountId, work, limit, ids, LEASE_MS, WORKER_ID, suspects]),
    tx.query<{ due_at: number }>(nextDue, [accountId, work]),
  ]);
  const jobs = claimed.rows.map((job) => ({ accountId, id: job.job_id, attempt: job.attempt, job, doing: null }));
  const hasSuspects =
    jobs.length === 0 && !suspects && (await tx.query(findSuspect, [accountId, work, ids])).rows.length > 0;
  return { jobs, nextMs: left.rows[0]?.due_at ?? null, hasSuspects };
}

export function stepRenewal({ db }: { readonly db: Queryable }) {
  return { everyMs: TELL_EVERY_MS, renew: async (step: Step) => step.doing === null || stepGoesOn(db, step) };
}

/** Renews the lease and tells what the step does. False: the step is not ours any more, or the job has ended. */
export async function stepGoesOn(db: Queryable, { accountId, id, attempt, doing }: Step): Promise<boolean> {
  const pct = doing?.pct == null ? null : Math.min(PCT_MAX, Math.floor(doing.pct));
  return (await db.query(keepStep, [accountId, id, attempt, pct, doing?.what ?? null, LEASE_MS])).count === 1;
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
  const { count } = await db.query(beginRunning, [accountId, id, attempt, timestamp(nowMs), what, expected]);
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

/** The job's next vendor, in the order of its chain, is asked. False: the step is not ours any more, or the job has ended. */
export async function stepAsks(
  tx: Transaction,
  { accountId, id, attempt }: Step,
  position: number,
  { vendor, model }: Link,
  leftReason: FailoverReason | null,
): Promise<boolean> {
  const values = [accountId, id, attempt, position, vendor, `${vendor}/${model}`, leftReason];
  return (await tx.query(chooseVendor, values)).count === 1;
}

/** What comes after a step. */
interface StepNext {
  readonly dueMs: number | null;
  /** Else it is seconds away: nobody is woken. */
  readonly atOnce?: boolean;
  readonly progressPct?: number | null;
  readonly what?: string;
}

/** The step is over, and the next one due at `dueMs`; null: there is none. Nothing is written of a job that changed meanwhile. */
export async function stepOver(
  db: Database,
  { accountId, id, attempt }: Step,
  { version, work }: JobRow,
  next: StepNext,
): Promise<void> {
  const { dueMs, progressPct = null, what = null, atOnce = false } = next;
  await db.transaction(async (tx) => {
    const due = timestamp(dueMs);
    const [{ count }] = await Promise.all([
      tx.query(lookAgain, [accountId, id, attempt, version, due, progressPct, what]),
      dueMs === null ? null : openTurn(tx, accountId, work, dueMs, { later: !atOnce }),
    ]);
    return count === 1;
  });
}

/** When the step was claimed, by the clock of the database. */
export const claimedMs = ({ job }: Step) => (job.due_at as number) - LEASE_MS;

/** The step is due again at `dueMs`. */
export async function stepDue(db: Queryable, { accountId, id, attempt }: Step, dueMs: number): Promise<void> {
  await db.query(putBack, [accountId, id, attempt, timestamp(dueMs)]);
}

/** The failure of a job whose process died again when it ran alone. */
export function givenUp({ deaths }: Pick<JobRow, 'deaths'>) {
  const message = `The process died ${deaths} times while this job ran. It is not tried again.`;
  return problem('INTERNAL_ERROR', { message });
}
