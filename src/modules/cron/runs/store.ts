// SQL of runs: list, end and takeover. A run belongs to one attempt at a time: `attempt` fences its outcome, and at `lease_until` its process
// counts as dead.

import { SHORT_SECONDS } from '../../../core/outbound/long-calls.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type RunRow, type RunStatus, runRecord } from '../jobs/records.ts';
import { LEASE_MS } from '../limits.ts';

const columns = `r.account_id, r.run_id, r.job_id, r.scheduled_at, r.started_at, r.finished_at, r.status, r.attempt, r.http_status,
          r.error_code, r.latency_ms, r.response_snippet, r.cost_nanos, r.is_manual, r.lease_until, r.timeout_seconds, r.retries, r.failures`;
const targetColumns = `j.name, j.task_url, j.capability, j.queue, j.run_as, j.payload, j.headers, j.secret, j.previous_secret, j.previous_secret_until`;

const selectRuns = statement(
  'cron_select_runs',
  `SELECT ${columns}
     FROM cron.run r
    WHERE r.account_id = $1 AND r.job_id = $2 AND r.scheduled_at < $3 AND r.started_at > core.clock_now() - interval '30 days'
    ORDER BY r.scheduled_at DESC
    LIMIT $4::int`,
);
// Runs of short and of long timeouts are claimed apart.
const claimLapsed = statement(
  'cron_claim_lapsed',
  `WITH c AS MATERIALIZED (
     SELECT r.run_id, core.clock_now() + interval '${LEASE_MS} milliseconds' AS lease_end
       FROM cron.run r
      WHERE r.account_id = $1 AND r.lease_until <= core.clock_now() AND r.run_id <> ALL($3::text[])
        AND r.timeout_seconds <= ${SHORT_SECONDS}
      ORDER BY r.lease_until
      LIMIT $2
        FOR UPDATE SKIP LOCKED)
   UPDATE cron.run AS r
      SET attempt = r.attempt + 1, status = 'running', lease_until = c.lease_end
     FROM c
    WHERE r.account_id = $1 AND r.run_id = c.run_id
   RETURNING ${columns}`,
);
const claimLapsedLong = statement(
  'cron_claim_lapsed_long',
  `WITH c AS MATERIALIZED (
     SELECT r.run_id, core.clock_now() + interval '${LEASE_MS} milliseconds' AS lease_end
       FROM cron.run r
      WHERE r.account_id = $1 AND r.lease_until <= core.clock_now() AND r.run_id <> ALL($3::text[])
        AND r.timeout_seconds > ${SHORT_SECONDS}
      ORDER BY r.lease_until
      LIMIT $2
        FOR UPDATE SKIP LOCKED)
   UPDATE cron.run AS r
      SET attempt = r.attempt + 1, status = 'running', lease_until = c.lease_end
     FROM c
    WHERE r.account_id = $1 AND r.run_id = c.run_id
   RETURNING ${columns}`,
);
const nextLapse = statement(
  'cron_next_lapse',
  `SELECT r.lease_until AS due_at FROM cron.run r
    WHERE r.account_id = $1 AND r.lease_until IS NOT NULL AND r.timeout_seconds <= ${SHORT_SECONDS} ORDER BY r.lease_until LIMIT 1`,
);
const nextLapseLong = statement(
  'cron_next_lapse_long',
  `SELECT r.lease_until AS due_at FROM cron.run r
    WHERE r.account_id = $1 AND r.lease_until IS NOT NULL AND r.timeout_seconds > ${SHORT_SECONDS} ORDER BY r.lease_until LIMIT 1`,
);
const shortLapsed = { claim: claimLapsed, next: nextLapse };
const longLapsed = { claim: claimLapsedLong, next: nextLapseLong };
const selectTargets = statement(
  'cron_select_targets',
  `SELECT j.job_id, ${targetColumns} FROM cron.job j WHERE j.account_id = $1 AND j.job_id = ANY($2::text[])`,
);
const putBack = statement(
  'cron_put_back',
  `UPDATE cron.run SET lease_until = $4 WHERE account_id = $1 AND run_id = $2 AND attempt = $3 AND lease_until IS NOT NULL`,
);
const endRun = statement(
  'cron_end_run',
  `UPDATE cron.run AS r
      SET status = $4, finished_at = $5, lease_until = NULL, http_status = $6, error_code = $7, latency_ms = $8, response_snippet = $9,
          cost_nanos = r.cost_nanos + $10
    WHERE r.account_id = $1 AND r.run_id = $2 AND r.attempt = $3 AND r.lease_until IS NOT NULL
   RETURNING ${columns}`,
);
const retryRun = statement(
  'cron_retry_run',
  `UPDATE cron.run AS r
      SET status = 'retrying', failures = r.failures + 1, lease_until = $4, http_status = $5, error_code = $6, latency_ms = $7,
          response_snippet = $8, cost_nanos = r.cost_nanos + $9
    WHERE r.account_id = $1 AND r.run_id = $2 AND r.attempt = $3 AND r.lease_until IS NOT NULL
   RETURNING ${columns}`,
);
const renew = statement(
  'cron_renew_run',
  `UPDATE cron.run SET lease_until = core.clock_now() + interval '${LEASE_MS} milliseconds'
    WHERE account_id = $1 AND run_id = $2 AND attempt = $3 AND lease_until IS NOT NULL`,
);
const postpone = statement(
  'cron_postpone_run',
  `UPDATE cron.run SET attempt = attempt - 1, lease_until = $4
    WHERE account_id = $1 AND run_id = $2 AND attempt = $3 AND lease_until IS NOT NULL`,
);
const noteRetry = statement(
  'cron_note_retry',
  `UPDATE cron.job SET last_run = $4 WHERE account_id = $1 AND job_id = $2 AND last_run_id = $3`,
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
  readonly capability: string | null;
  readonly queue: string | null;
  readonly run_as: string | null;
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
  /** What it cost beyond what it was begun with. */
  readonly costNanos: bigint;
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
  { limit, except, areLong }: { readonly limit: number; readonly except: readonly string[]; readonly areLong: boolean },
): Promise<{ run: RunRow; target: TargetRow | null }[]> {
  const { claim } = areLong ? longLapsed : shortLapsed;
  const { rows: runs } = await tx.query<RunRow>(claim, [accountId, limit, textArray(except)]);
  if (runs.length === 0) return [];
  const jobIds = textArray(runs.map(({ job_id }) => job_id));
  const { rows } = await tx.query<TargetRow & { job_id: string }>(selectTargets, [accountId, jobIds]);
  const targets = new Map(rows.map((row) => [row.job_id, row]));
  return runs.map((run) => ({ run, target: targets.get(run.job_id) ?? null }));
}

/** When the next lease of the account's runs ends; null when none is running. */
export async function nextLapseMs(tx: Queryable, accountId: string, areLong: boolean): Promise<number | null> {
  const { next } = areLong ? longLapsed : shortLapsed;
  return (await tx.query<{ due_at: number }>(next, [accountId])).rows[0]?.due_at ?? null;
}

/** The run is for another attempt from `dueMs` on, when this attempt is still the one that has it. */
export async function putBackRun(tx: Queryable, run: RunRow, dueMs: number): Promise<void> {
  await tx.query(putBack, [run.account_id, run.run_id, run.attempt, timestamp(dueMs)]);
}

/** False: another attempt has the run, or it is over. */
export async function renewRun(db: Queryable, run: RunRow): Promise<boolean> {
  return (await db.query(renew, [run.account_id, run.run_id, run.attempt])).count === 1;
}

/** Nothing was called: the attempt does not count, and is due at `dueMs`. */
export async function postponeRun(tx: Queryable, run: RunRow, dueMs: number): Promise<void> {
  await tx.query(postpone, [run.account_id, run.run_id, run.attempt, timestamp(dueMs)]);
}

/** The attempt has failed, and the next one is due at `dueMs`; null when this attempt is not the one that may say so. */
export async function saveRetry(tx: Transaction, run: RunRow, end: RunEnd, dueMs: number): Promise<RunRow | null> {
  const { httpStatus, errorCode, latencyMs, snippet, costNanos } = end;
  const id = [run.account_id, run.run_id, run.attempt];
  const values = [...id, timestamp(dueMs), httpStatus, errorCode, latencyMs, snippet, costNanos];
  const retrying = (await tx.query<RunRow>(retryRun, values)).rows[0] ?? null;
  if (retrying !== null) {
    const { account_id, job_id, run_id } = retrying;
    await tx.query(noteRetry, [account_id, job_id, run_id, JSON.stringify(runRecord(retrying))]);
  }
  return retrying;
}

/** Ends the run; null when this attempt is not the one that may. */
export async function saveRunEnd(tx: Transaction, run: RunRow, end: RunEnd, nowMs: number): Promise<RunRow | null> {
  const { status, httpStatus, errorCode, latencyMs, snippet, costNanos } = end;
  const id = [run.account_id, run.run_id, run.attempt];
  const values = [...id, status, timestamp(nowMs), httpStatus, errorCode, latencyMs, snippet, costNanos];
  return (await tx.query<RunRow>(endRun, values)).rows[0] ?? null;
}

/** `record`: JSON text of the run as it ended. */
export async function saveLastRun(tx: Transaction, run: RunRow, record: string, nowMs: number): Promise<void> {
  const { account_id, job_id, run_id, scheduled_at } = run;
  await tx.query(noteLastRun, [account_id, job_id, run_id, record, timestamp(scheduled_at), timestamp(nowMs)]);
}
