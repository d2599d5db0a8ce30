// A run outside the schedule, as an effect of the wallet's lane: its row, its charge and the turn of its account commit together. The row's lease
// has ended when it is written, so the loop of runs takes it over as it takes over every run that nobody makes.
import { openTurn } from '../../../core/background/turns.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { accountsOf, int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { newId } from '../../../lib/ids.ts';
import { toJson } from '../../../lib/json-text.ts';
import { problem } from '../../../problems/problem.ts';
import { type JobStatus, type RunRow, runRecord } from '../jobs/records.ts';
import { RUNS } from '../limits.ts';

interface JobRef {
  readonly jobId: string;
}

const selectJobs = statement(
  'cron_run_now_jobs',
  `SELECT j.account_id, j.job_id, j.status FROM cron.job j WHERE j.account_id = ANY($1::text[]) AND j.job_id = ANY($2::text[])`,
);
const insertRuns = statement(
  'cron_run_now_insert',
  `INSERT INTO cron.run AS r (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, lease_until, cost_nanos, is_manual)
   SELECT w.account_id, u.run_id, u.job_id, u.scheduled_at, $2::timestamptz, 'running', 0, $2::timestamptz, u.cost, true
     FROM core.wallet w, unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bigint[]) u(account_id, run_id, job_id, scheduled_at, cost)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const noteRuns = statement(
  'cron_run_now_note',
  `UPDATE cron.job AS j SET last_run_id = u.run_id, last_run = u.last_run
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) u(account_id, run_id, job_id, last_run)
    WHERE j.account_id = ANY($1::text[]) AND j.account_id = u.account_id AND j.job_id = u.job_id`,
);

export const runNow: LaneEffect<JobRef, null> = {
  name: 'cron.run',
  // Two runs of a job never begin in the same millisecond: that is how runs are told apart.
  exclusiveKeys: ({ accountId, input }) => [`${accountId}\n${input.jobId}`],
  read: readJobs,
  write: writeRuns,
};

async function readJobs(tx: Queryable, items: readonly LaneItem<JobRef, null>[]): Promise<ReadVerdict<null>[]> {
  const { rows } = await tx.query<{ account_id: string; job_id: string; status: JobStatus }>(selectJobs, [
    accountsOf(items),
    textArray(items.map(({ input }) => input.jobId)),
  ]);
  const found = new Map(rows.map((row) => [`${row.account_id}\n${row.job_id}`, row.status]));
  return items.map(({ accountId, input }) => verdictOf(found.get(`${accountId}\n${input.jobId}`)));
}

function verdictOf(status: JobStatus | undefined): ReadVerdict<null> {
  if (status === undefined) return { kind: 'refuse', problem: problem('JOB_NOT_FOUND', { param: 'id' }) };
  if (status === 'completed')
    return { kind: 'refuse', problem: problem('STATE_CONFLICT', { message: 'The job is completed.' }) };
  return { kind: 'go', context: null };
}

function writeRuns(tx: Transaction, admitted: readonly AdmittedItem<JobRef, null>[], nowMs: number): string[] {
  const items = admitted.map(({ item }) => item);
  const runs = items.map((item) => beginning(item, nowMs));
  const accounts = accountsOf(items);
  const texts = (of: (run: RunRow) => string) => textArray(runs.map(of));
  const which = [texts(({ account_id }) => account_id), texts(({ run_id }) => run_id), texts(({ job_id }) => job_id)];
  void tx.query(insertRuns, [
    accounts,
    timestamp(nowMs),
    ...which,
    timestampArray(runs.map(({ scheduled_at }) => scheduled_at)),
    int8Array(runs.map(({ cost_nanos }) => cost_nanos)),
  ]);
  void tx.query(noteRuns, [accounts, ...which, texts((run) => toJson(runRecord(run)))]);
  for (const { accountId } of items) void openTurn(tx, accountId, RUNS, nowMs);
  void countAccepted(
    tx,
    items.map(({ accountId, capability }) => ({ accountId, capability, units: 1n })),
  );
  return runs.map((run) => toJson(runRecord(run)));
}

function beginning({ accountId, input, amount }: LaneItem<JobRef, null>, nowMs: number): RunRow {
  const none = { finished_at: null, http_status: null, error_code: null, latency_ms: null, response_snippet: null };
  return {
    account_id: accountId,
    run_id: newId('run_', nowMs),
    job_id: input.jobId,
    ...none,
    // No slot of an expression is there: those are whole seconds.
    scheduled_at: nowMs % 1_000 === 0 ? nowMs + 1 : nowMs,
    started_at: nowMs,
    status: 'running',
    attempt: 0,
    cost_nanos: amount,
    is_manual: true,
  };
}
