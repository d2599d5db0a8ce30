// SQL of runs: list, end and takeover. A run belongs to one attempt at a time: `attempt` fences its outcome, and at `lease_until` its process
// counts as dead.

import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { RunRow, RunStatus } from '../jobs/records.ts';
import { LEASE_MS } from '../limits.ts';

const columns = `r.account_id, r.run_id, r.job_id, r.scheduled_at, r.started_at, r.finished_at, r.status, r.attempt, r.http_status,
          r.error_code, r.latency_ms, r.response_snippet, r.cost_nanos, r.is_manual`;
const targetColumns = `j.name, j.task_url, j.payload, j.headers, j.secret, j.previous_secret, j.previous_secret_until`;

const selectRuns = statement(
  'cron_select_runs',
  `SELECT ${columns}
     FROM cron.run r
    WHERE r.account_id = $1 AND r.job_id = $2 AND r.scheduled_at < $3 AND r.started_at > core.clock_now() - interval '30 days'
    ORDER BY r.scheduled_at DESC
    LIMIT $4::int`,
);
const claimLapsed = statement(
  'cron_claim_lapsed',
  `WITH c AS MATERIALIZED (
     SELECT r.run_id, core.clock_now() + interval '${LEASE_MS} milliseconds' AS lease_end
       FROM cron.run r
      WHERE r.account_id = $1 AND r.lease_until <= core.clock_now() AND r.run_id <> ALL($3::text[])
      ORDER BY r.lease_until
      LIMIT $2
        FOR UPDATE SKIP LOCKED)
   UPDATE cron.run AS r
      SET attempt = r.attempt + 1, lease_until = c.lease_end
     FROM c
    WHERE r.account_id = $1 AND r.run_id = c.run_id
   RETURNING ${columns}`,
);
const selectTargets = statement(
  'cron_select_targets',
  `SELECT j.job_id, ${targetColumns} FROM cron.job j WHERE j.account_id = $1 AND j.job_id = ANY($2::text[])`,
);
const nextLapse = statement(
  'cron_next_lapse',
  `SELECT r.lease_until AS due_at FROM cron.run r
    WHERE r.account_id = $1 AND r.lease_until IS NOT NULL ORDER BY r.lease_until LIMIT 1`,
);
const putBack = statement(
  'cron_put_back',
  `UPDATE cron.run SET lease_until = $4 WHERE account_id = $1 AND run_id = $2 AND attempt = $3 AND lease_until IS NOT NULL`,
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
  const before = beforeMs === null ? 'infinity' : timestamp(beforeMs);
  return (await db.query<RunRow>(selectRuns, [accountId, jobId, before, limit])).rows;
}

/** The next attempts of up to `limit` runs whose lease has ended, `except` those of these ids. `target` is null when the job was deleted. */
export async function takeOverRuns(
  tx: Queryable,
  accountId: string,
  limit: number,
  except: readonly string[],
): Promise<{ run: RunRow; target: TargetRow | null }[]> {
  const { rows: runs } = await tx.query<RunRow>(claimLapsed, [accountId, limit, textArray(except)]);
  if (runs.length === 0) return [];
  const jobIds = textArray(runs.map(({ job_id }) => job_id));
  const { rows } = await tx.query<TargetRow & { job_id: string }>(selectTargets, [accountId, jobIds]);
  const targets = new Map(rows.map((row) => [row.job_id, row]));
  return runs.map((run) => ({ run, target: targets.get(run.job_id) ?? null }));
}

/** When the next lease of the account's runs ends; null when none is running. */
export async function nextLapseMs(tx: Queryable, accountId: string): Promise<number | null> {
  return (await tx.query<{ due_at: number }>(nextLapse, [accountId])).rows[0]?.due_at ?? null;
}

/** The run is for another attempt from `dueMs` on, when this attempt is still the one that has it. */
export async function putBackRun(tx: Queryable, run: RunRow, dueMs: number): Promise<void> {
  await tx.query(putBack, [run.account_id, run.run_id, run.attempt, timestamp(dueMs)]);
}

/** Ends the run; null when this attempt is not the one that may. */
export async function saveRunEnd(tx: Transaction, run: RunRow, end: RunEnd, nowMs: number): Promise<RunRow | null> {
  const { status, httpStatus, errorCode, latencyMs, snippet } = end;
  const id = [run.account_id, run.run_id, run.attempt];
  const values = [...id, status, timestamp(nowMs), httpStatus, errorCode, latencyMs, snippet];
  return (await tx.query<RunRow>(endRun, values)).rows[0] ?? null;
}

/** `record`: JSON text of the run as it ended. */
export async function saveLastRun(tx: Transaction, run: RunRow, record: string, nowMs: number): Promise<void> {
  const { account_id, job_id, run_id, scheduled_at } = run;
  await tx.query(noteLastRun, [account_id, job_id, run_id, record, timestamp(scheduled_at), timestamp(nowMs)]);
}
