// SQL of runs: their list, how they end, and what is found due. A run belongs to one attempt at a time: `attempt` fences its
// outcome, and `lease_until` says until when its process is waited for.
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { RunRow, RunStatus } from '../jobs/records.ts';
import { LEASE_MS } from '../limits.ts';

const columns = `r.account_id, r.run_id, r.job_id, r.scheduled_at, r.started_at, r.finished_at, r.status, r.attempt, r.http_status,
          r.error_code, r.latency_ms, r.response_snippet, r.cost_nanos`;
const targetColumns = `j.name, j.task_url, j.payload, j.headers, j.secret, j.previous_secret, j.previous_secret_until`;

const selectRuns = statement(
  'cron_select_runs',
  `SELECT ${columns}
     FROM cron.run r
    WHERE r.account_id = $1 AND r.job_id = $2 AND r.scheduled_at < $3 AND r.started_at > core.clock_now() - interval '30 days'
    ORDER BY r.scheduled_at DESC
    LIMIT $4::int`,
);
const findDueLanes = statement(
  'cron_find_due_lanes',
  `/* fan-out: accounts with jobs that are due, the one that waits longest first */
   SELECT account_id FROM cron.lane WHERE due_at <= core.clock_now() ORDER BY due_at LIMIT $1`,
);
const findLapsedRuns = statement(
  'cron_find_lapsed_runs',
  `/* fan-out: runs whose process is gone */
   SELECT account_id, run_id FROM cron.run WHERE lease_until <= core.clock_now() ORDER BY lease_until LIMIT $1`,
);
const claimLapsed = statement(
  'cron_claim_lapsed',
  `UPDATE cron.run AS r
      SET attempt = r.attempt + 1, lease_until = core.clock_now() + interval '${LEASE_MS} milliseconds'
    WHERE r.account_id = $1 AND r.run_id = $2 AND r.lease_until <= core.clock_now()
   RETURNING ${columns}`,
);
const selectTarget = statement(
  'cron_select_target',
  `SELECT ${targetColumns} FROM cron.job j WHERE j.account_id = $1 AND j.job_id = $2`,
);
const giveBack = statement(
  'cron_give_back',
  `UPDATE cron.run SET lease_until = core.clock_now() WHERE account_id = $1 AND run_id = $2 AND attempt = $3 AND lease_until IS NOT NULL`,
);
const endRun = statement(
  'cron_end_run',
  `UPDATE cron.run AS r
      SET status = $4, finished_at = $5, lease_until = NULL, http_status = $6, error_code = $7, latency_ms = $8, response_snippet = $9
    WHERE r.account_id = $1 AND r.run_id = $2 AND r.attempt = $3 AND r.lease_until IS NOT NULL
   RETURNING ${columns}`,
);
// A job for one time is completed with its run, unless it was given another time since.
const noteLastRun = statement(
  'cron_note_last_run',
  `UPDATE cron.job
      SET last_run = $4,
          status = CASE WHEN run_at = $5 THEN 'completed' ELSE status END,
          updated_at = CASE WHEN run_at = $5 THEN $6 ELSE updated_at END
    WHERE account_id = $1 AND job_id = $2 AND last_run_id = $3`,
);
const postponeLane = statement(
  'cron_postpone_lane',
  `UPDATE cron.lane SET due_at = core.clock_now() + interval '30 seconds' WHERE account_id = $1`,
);

/** What an attempt needs to know of its job; secrets and headers are encrypted. */
export interface TargetRow {
  readonly name: string | null;
  readonly task_url: string;
  readonly payload: string | null;
  readonly headers: Buffer | null;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: number | null;
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly latencyMs: number | null;
  readonly snippet: string | null;
}

/** Runs of a job with slots before `beforeMs` (null: all), newest first; none older than 30 days. */
export async function listRuns(
  db: Queryable,
  accountId: string,
  jobId: string,
  beforeMs: number | null,
  limit: number,
): Promise<RunRow[]> {
  const before = beforeMs === null ? 'infinity' : new Date(beforeMs);
  return (await db.query<RunRow>(selectRuns, [accountId, jobId, before, limit])).rows;
}

/** Accounts with jobs that are due, up to `limit`. */
export async function dueAccounts(db: Queryable, limit: number): Promise<string[]> {
  return (await db.query<{ account_id: string }>(findDueLanes, [limit])).rows.map((row) => row.account_id);
}

export async function lapsedRuns(db: Queryable, limit: number): Promise<{ account_id: string; run_id: string }[]> {
  return (await db.query<{ account_id: string; run_id: string }>(findLapsedRuns, [limit])).rows;
}

/** The next attempt of a run whose lease ended; null when somebody else has it. `target` is null when its job was deleted. */
export async function takeOverRun(
  db: Queryable,
  accountId: string,
  runId: string,
): Promise<{ run: RunRow; target: TargetRow | null } | null> {
  const [run] = (await db.query<RunRow>(claimLapsed, [accountId, runId])).rows;
  if (run === undefined) return null;
  return { run, target: await findTarget(db, accountId, run.job_id) };
}

async function findTarget(db: Queryable, accountId: string, jobId: string): Promise<TargetRow | null> {
  return (await db.query<TargetRow>(selectTarget, [accountId, jobId])).rows[0] ?? null;
}

/** Another process may take the run at once. */
export async function giveBackRun(db: Queryable, run: RunRow): Promise<void> {
  await db.query(giveBack, [run.account_id, run.run_id, run.attempt]);
}

/** Ends the run; null when this attempt is not the one that may. */
export async function saveRunEnd(tx: Transaction, run: RunRow, end: RunEnd, nowMs: number): Promise<RunRow | null> {
  const { status, httpStatus, errorCode, latencyMs, snippet } = end;
  const id = [run.account_id, run.run_id, run.attempt];
  const values = [...id, status, new Date(nowMs), httpStatus, errorCode, latencyMs, snippet];
  return (await tx.query<RunRow>(endRun, values)).rows[0] ?? null;
}

/** `record`: JSON text of the run as it ended. */
export async function saveLastRun(tx: Transaction, run: RunRow, record: string, nowMs: number): Promise<void> {
  const { account_id, job_id, run_id, scheduled_at } = run;
  await tx.query(noteLastRun, [account_id, job_id, run_id, record, new Date(scheduled_at), new Date(nowMs)]);
}

/** An account whose jobs cannot be begun now is looked at again in half a minute. */
export async function postpone(db: Queryable, accountId: string): Promise<void> {
  await db.query(postponeLane, [accountId]);
}
