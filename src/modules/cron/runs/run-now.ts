// A run outside the schedule: its row, its charge and the turn of its account commit together. Its lease has ended when the row is written, so
// the loop of runs takes it over like any abandoned run.
import { openTurn } from '../../../core/background/turns.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { paidWrite } from '../../../kit/paid-write.ts';
import { newId } from '../../../lib/ids.ts';
import { toJson } from '../../../lib/json-text.ts';
import { type JobRow, type RunRow, runRecord } from '../jobs/records.ts';
import { requireOpenJob } from '../jobs/store.ts';
import { requireMayBegin } from '../jobs/target.ts';
import { workOf } from '../limits.ts';

const insertRun = statement(
  'cron_run_now_insert',
  `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, lease_until, cost_nanos, is_manual,
                         timeout_seconds, retries)
   VALUES ($1, $2, $3, $4, $5, 'running', 0, $5, $6, true, $7, $8)`,
);
const noteRun = statement(
  'cron_run_now_note',
  `UPDATE cron.job SET last_run_id = $3, last_run = $4 WHERE account_id = $1 AND job_id = $2`,
);

export const runNow = paidWrite<unknown, { readonly job_id: string }, JobRow>({
  name: 'cron.run',
  // Two runs of a job never begin in the same millisecond: that is how runs are told apart.
  isOneByOne: true,
  async check(tx: Queryable, call, { job_id: jobId }) {
    const job = await requireOpenJob(tx, call, jobId);
    requireMayBegin(call.core, call.principal, job);
    return job;
  },
  write(tx, { accountId, amountNanos }, _input, job, nowMs) {
    const { job_id: jobId, timeout_seconds: seconds, retries } = job;
    const run = firstState(accountId, job, amountNanos, nowMs);
    const times = [timestamp(run.scheduled_at), timestamp(nowMs)];
    void tx.query(insertRun, [accountId, run.run_id, jobId, ...times, amountNanos, seconds, retries]);
    const record = runRecord(run);
    void tx.query(noteRun, [accountId, jobId, run.run_id, toJson(record)]);
    void openTurn(tx, accountId, workOf(seconds), nowMs);
    return record;
  },
});

function firstState(accountId: string, job: JobRow, costNanos: bigint, nowMs: number): RunRow {
  return {
    account_id: accountId,
    run_id: newId('run_', nowMs),
    job_id: job.job_id,
    // No slot of an expression is there: those are whole seconds.
    scheduled_at: nowMs % 1_000 === 0 ? nowMs + 1 : nowMs,
    started_at: nowMs,
    finished_at: null,
    status: 'running',
    attempt: 0,
    http_status: null,
    error_code: null,
    latency_ms: null,
    response_snippet: null,
    cost_nanos: costNanos,
    is_manual: true,
    lease_until: null,
    timeout_seconds: job.timeout_seconds,
    retries: job.retries,
    failures: 0,
  };
}
