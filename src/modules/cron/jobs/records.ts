// Rows of jobs and runs, and their records in answers.
import { maskHeaders } from '../../../core/outbound/target-headers.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { usd } from '../../../lib/money.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { NEXT_RUNS } from '../limits.ts';
import { slotsAfter } from './schedule.ts';

export const jobStatuses = ['active', 'paused', 'completed'] as const;
export type JobStatus = (typeof jobStatuses)[number];

export const runStatuses = ['running', 'retrying', 'succeeded', 'failed', 'skipped'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface JobRow {
  readonly account_id: string;
  readonly job_id: string;
  readonly key_id: string;
  readonly name: string | null;
  /** Empty: its target is no URL. */
  readonly task_url: string;
  /** What is called in place of a URL, and as which key; null: a URL is. */
  readonly capability: string | null;
  readonly queue: string | null;
  readonly run_as: string | null;
  readonly timeout_seconds: number;
  readonly retries: number;
  readonly cron_expr: string | null;
  readonly timezone: string;
  readonly run_at: number | null;
  readonly status: JobStatus;
  readonly next_run_at: number | null;
  /** JSON as it was sent, for a capability its input; null when none was. */
  readonly payload: string | null;
  /** Encrypted. */
  readonly headers: Buffer | null;
  readonly secret_last4: string;
  /** JSON of a run record. */
  readonly last_run: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface RunRow {
  readonly account_id: string;
  readonly run_id: string;
  readonly job_id: string;
  readonly scheduled_at: number;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly status: RunStatus;
  readonly attempt: number;
  /** When its attempt counts as dead, or is due again; null: it is over. */
  readonly lease_until: number | null;
  readonly timeout_seconds: number;
  readonly retries: number;
  /** Attempts that failed. */
  readonly failures: number;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
  readonly response_snippet: string | null;
  readonly cost_nanos: bigint;
  /** Asked for by a call, outside the schedule. */
  readonly is_manual: boolean;
}

/** The job without its payload. */
export function jobSummary(secrets: Secrets, row: JobRow) {
  return {
    job_id: row.job_id,
    name: row.name,
    task: row.capability === null ? row.task_url : null,
    task_url: row.capability === null ? row.task_url : null,
    target: targetRecord(row),
    cron_expr: row.cron_expr,
    timezone: row.timezone,
    run_at: isoOrNull(row.run_at),
    status: row.status,
    next_run_at: isoOrNull(row.next_run_at),
    last_run: row.last_run === null ? null : (JSON.parse(row.last_run) as object),
    timeout_seconds: row.timeout_seconds,
    retries: row.retries,
    headers: maskHeaders(openHeaders(secrets, row)),
    secret_last4: row.secret_last4,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

function targetRecord({ task_url: url, capability, queue, run_as: keyId }: JobRow) {
  if (capability === null) return { url };
  return queue === null ? { capability, key_id: keyId } : { queue, key_id: keyId };
}

/** JSON text of one job, with the next times that it runs. */
export function jobDetailText(secrets: Secrets, row: JobRow): string {
  return textOf({ ...jobSummary(secrets, row), next_runs: nextRuns(row) }, row);
}

function nextRuns({ next_run_at: next, cron_expr: cronExpr, timezone }: JobRow): string[] {
  if (next === null) return [];
  if (cronExpr === null) return [iso(next)];
  return [next, ...slotsAfter({ cronExpr, timezone }, next, NEXT_RUNS - 1)].map(iso);
}

/** JSON text of the job; `secret` is shown when the call made one. */
export function jobText(secrets: Secrets, row: JobRow, secret?: string): string {
  return textOf({ ...jobSummary(secrets, row), ...(secret === undefined ? {} : { secret }) }, row);
}

/** Built by hand: the payload reaches the wire byte for byte. */
function textOf(shown: object, { payload }: JobRow): string {
  return `${JSON.stringify(shown).slice(0, -1)},"payload":${payload ?? 'null'}}`;
}

export function runRecord(row: RunRow) {
  return {
    run_id: row.run_id,
    job_id: row.job_id,
    scheduled_at: iso(row.scheduled_at),
    started_at: iso(row.started_at),
    finished_at: isoOrNull(row.finished_at),
    status: row.status,
    trigger: row.is_manual ? 'manual' : 'schedule',
    attempt: row.attempt,
    retries_left: Math.max(0, row.retries - row.failures),
    next_attempt_at: row.status === 'retrying' ? isoOrNull(row.lease_until) : null,
    http_status: row.http_status,
    error_code: row.error_code,
    latency_ms: row.latency_ms,
    response_snippet: row.response_snippet,
    cost_usd: usd(row.cost_nanos),
  };
}

export function openHeaders(
  secrets: Secrets,
  { job_id, headers }: Pick<JobRow, 'job_id' | 'headers'>,
): Record<string, string> {
  return headers === null
    ? {}
    : (JSON.parse(secrets.decrypt('cron-headers', job_id, headers)) as Record<string, string>);
}

export function sealHeaders(secrets: Secrets, jobId: string, headers: Readonly<Record<string, string>>): Buffer | null {
  const hasHeaders = Object.keys(headers).length > 0;
  return hasHeaders ? secrets.encrypt('cron-headers', jobId, JSON.stringify(headers)) : null;
}

export function openSecret(secrets: Secrets, jobId: string, sealed: Buffer): string {
  return secrets.decrypt('cron-secret', jobId, sealed);
}

export function sealSecret(secrets: Secrets, jobId: string, secret: string): Buffer {
  return secrets.encrypt('cron-secret', jobId, secret);
}
