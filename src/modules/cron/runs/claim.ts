// Claims the due runs of one account: first those whose process is gone, then due slots. One transaction records each slot, charges it and moves
// its job to the next slot, under the wallet lock. So one process begins a slot, and once.

import type { Claimed, LeasedJob, Wanted } from '../../../core/background/due-work.ts';
import type { Tier } from '../../../core/callers/tiers.ts';
import { type NewEvent, sendEvents } from '../../../core/events/outbox.ts';
import { SHORT_SECONDS } from '../../../core/outbound/long-calls.ts';
import { chargeWork, type WorkVerdict } from '../../../core/wallet/charge/charge-work.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { type OpenWallet, openWallet } from '../../../core/wallet/open-wallet.ts';
import { int2Array, int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { type JobStatus, type RunRow, runRecord } from '../jobs/records.ts';
import { dueSlot } from '../jobs/schedule.ts';
import { LEASE_MS, NO_ROOM_MS, RUN_PRICE } from '../limits.ts';
import { nextLapseMs, type TargetRow, takeOverRuns } from './store.ts';

/** A run that this process is to make. */
export interface ClaimedRun extends LeasedJob {
  readonly run: RunRow;
  /** Null when its job was deleted after an earlier attempt. */
  readonly target: TargetRow | null;
  /** When it was claimed, by the database's clock. */
  readonly claimedMs: number;
  /** Of the account, for its bound of long calls; null: it is none. */
  readonly tier: Tier | null;
}

interface DueRow extends TargetRow {
  readonly job_id: string;
  readonly key_id: string;
  readonly cron_expr: string | null;
  readonly timezone: string;
  readonly next_run_at: number;
  readonly timeout_seconds: number;
  readonly retries: number;
}

/** A slot that begins now, with its job as it is afterwards. */
interface Beginning {
  readonly job: DueRow;
  readonly run: RunRow;
  readonly nextMs: number | null;
  readonly jobStatus: JobStatus;
}

// Jobs of short and of long timeouts are claimed apart: each text with its condition.
const dueColumns = `j.job_id, j.key_id, j.name, j.task_url, j.capability, j.queue, j.run_as, j.timeout_seconds, j.retries, j.cron_expr, j.timezone,
          j.next_run_at, j.payload, j.headers, j.secret, j.previous_secret, j.previous_secret_until`;
const selectDue = statement(
  'cron_select_due',
  `SELECT ${dueColumns}
     FROM cron.job j
    WHERE j.account_id = $1 AND j.next_run_at <= core.clock_now() AND j.timeout_seconds <= ${SHORT_SECONDS}
    ORDER BY j.next_run_at, j.job_id
    LIMIT $2::int`,
);
const selectDueLong = statement(
  'cron_select_due_long',
  `SELECT ${dueColumns}
     FROM cron.job j
    WHERE j.account_id = $1 AND j.next_run_at <= core.clock_now() AND j.timeout_seconds > ${SHORT_SECONDS}
    ORDER BY j.next_run_at, j.job_id
    LIMIT $2::int`,
);
const nextSlot = statement(
  'cron_next_slot',
  `SELECT j.next_run_at AS due_at FROM cron.job j
    WHERE j.account_id = $1 AND j.next_run_at IS NOT NULL AND j.timeout_seconds <= ${SHORT_SECONDS} ORDER BY j.next_run_at LIMIT 1`,
);
const nextSlotLong = statement(
  'cron_next_slot_long',
  `SELECT j.next_run_at AS due_at FROM cron.job j
    WHERE j.account_id = $1 AND j.next_run_at IS NOT NULL AND j.timeout_seconds > ${SHORT_SECONDS} ORDER BY j.next_run_at LIMIT 1`,
);
const shortDue = { select: selectDue, next: nextSlot };
const longDue = { select: selectDueLong, next: nextSlotLong };
const readTier = statement('cron_read_tier', 'SELECT a.tier FROM core.account a WHERE a.account_id = $1');
const insertRuns = statement(
  'cron_insert_runs',
  `INSERT INTO cron.run AS r (account_id, run_id, job_id, scheduled_at, started_at, finished_at, status, attempt, lease_until,
                              error_code, cost_nanos, timeout_seconds, retries)
   SELECT w.account_id, u.run_id, u.job_id, u.scheduled_at, $2::timestamptz, u.finished_at, u.status, 1, u.lease_until, u.error_code, u.cost,
          u.timeout_seconds, u.retries
     FROM core.wallet w, unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::timestamptz[], $9::text[], $10::bigint[],
                                $11::smallint[], $12::smallint[])
          u(run_id, job_id, scheduled_at, finished_at, status, lease_until, error_code, cost, timeout_seconds, retries)
    WHERE w.account_id = $1`,
);
const advanceJobs = statement(
  'cron_advance_jobs',
  `UPDATE cron.job AS j
      SET next_run_at = u.next_run_at, status = u.status, last_run_id = u.run_id, last_run = u.last_run,
          updated_at = CASE WHEN u.status = 'completed' THEN $7::timestamptz ELSE j.updated_at END
     FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[]) u(job_id, next_run_at, status, run_id, last_run)
    WHERE j.account_id = $1 AND j.job_id = u.job_id`,
);
/** Runs that this process is to make, of jobs with short or with long timeouts; skipped ones are over already and not among them. */
export async function claimRuns(
  core: Services,
  tx: Transaction,
  accountId: string,
  { limit: places, underWay }: Wanted,
  areLong: boolean,
): Promise<Claimed<ClaimedRun>> {
  const { select, next } = areLong ? longDue : shortDue;
  const tier = areLong ? await tierOf(tx, accountId) : null;
  const limit = tier === null ? places : Math.min(places, core.longCalls.room(accountId, tier));
  const [opened, lapsed, due] = await Promise.all([
    openWallet(tx, accountId),
    takeOverRuns(tx, accountId, { limit, except: underWay, areLong }),
    tx.query<DueRow>(select, [accountId, limit]),
  ]);
  if (opened === null) throw new Error(`account ${accountId} has no wallet`);
  const { nowMs } = opened;
  // The statement's clock is a little later than that of the wallet, from which the next slots are counted.
  const jobs = due.rows.filter((job) => job.next_run_at <= nowMs).slice(0, limit - lapsed.length);
  const verdicts = await admitRuns(core, tx, opened, jobs);
  const begun = jobs.map((job, i) => beginning(accountId, job, verdicts[i] as WorkVerdict, nowMs));
  const [, slot, lapseMs] = await Promise.all([
    writeBeginnings(tx, accountId, begun, nowMs),
    tx.query<{ due_at: number }>(next, [accountId]),
    nextLapseMs(tx, accountId, areLong),
  ]);
  const running = begun.filter(({ run }) => run.status === 'running').map(({ job, run }) => ({ run, target: job }));
  const nextMs = earliest(slot.rows[0]?.due_at ?? null, lapseMs);
  return {
    jobs: [...lapsed, ...running].map(({ run, target }) => ({
      accountId,
      id: run.run_id,
      attempt: run.attempt,
      run,
      target,
      claimedMs: nowMs,
      tier,
    })),
    // What has no room among long calls is not found again and again.
    nextMs: nextMs !== null && limit < places ? Math.max(nextMs, nowMs + NO_ROOM_MS) : nextMs,
  };
}

async function tierOf(tx: Transaction, accountId: string): Promise<Tier> {
  return (await tx.query<{ tier: Tier }>(readTier, [accountId])).rows[0]?.tier ?? 'standard';
}

/** A run of a URL is charged here. Any other costs what it calls, when it calls. */
async function admitRuns(
  core: Services,
  tx: Transaction,
  opened: OpenWallet,
  jobs: readonly DueRow[],
): Promise<WorkVerdict[]> {
  const urls = jobs.filter(({ capability }) => capability === null);
  const work = urls.map((job) => ({ capability: RUN_PRICE, keyId: job.key_id, units: 1n }));
  const charged = (await chargeWork(tx, opened, core.prices, work)).values();
  const { suspended } = opened.wallet;
  const free: WorkVerdict = suspended ? { charged: false, reason: 'suspended' } : { charged: true, costNanos: 0n };
  return jobs.map(({ capability }) => (capability === null ? (charged.next().value as WorkVerdict) : free));
}

const earliest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));

function beginning(accountId: string, job: DueRow, verdict: WorkVerdict, nowMs: number): Beginning {
  const { slotMs, nextMs } =
    job.cron_expr === null
      ? { slotMs: job.next_run_at, nextMs: null }
      : dueSlot({ cronExpr: job.cron_expr, timezone: job.timezone }, job.next_run_at, nowMs);
  const run: RunRow = {
    account_id: accountId,
    run_id: newId('run_', nowMs),
    job_id: job.job_id,
    scheduled_at: slotMs,
    started_at: nowMs,
    finished_at: verdict.charged ? null : nowMs,
    status: verdict.charged ? 'running' : 'skipped',
    attempt: 1,
    http_status: null,
    error_code: verdict.charged ? null : skipCodes[verdict.reason],
    latency_ms: null,
    response_snippet: null,
    cost_nanos: verdict.charged ? verdict.costNanos : 0n,
    is_manual: false,
    lease_until: null,
    timeout_seconds: job.timeout_seconds,
    retries: job.retries,
    failures: 0,
  };
  // A job for one time is completed when its run is; see saveLastRun.
  const isLast = nextMs === null && (job.cron_expr !== null || !verdict.charged);
  return { job, run, nextMs, jobStatus: isLast ? 'completed' : 'active' };
}

const skipCodes: Readonly<Record<(WorkVerdict & { charged: false })['reason'], string>> = {
  suspended: 'account_suspended',
  frozen: 'frozen',
  balance: 'insufficient_credit',
  key_cap: 'key_cap',
  budget_daily: 'budget_daily',
  budget_monthly: 'budget_monthly',
};

async function writeBeginnings(
  tx: Transaction,
  accountId: string,
  begun: readonly Beginning[],
  nowMs: number,
): Promise<void> {
  if (begun.length === 0) return;
  const now = timestamp(nowMs);
  const runs = begun.map(({ run }) => run);
  const skipped = begun.filter(({ run }) => run.status === 'skipped');
  const charged = begun.filter(({ job, run }) => job.capability === null && run.status === 'running');
  const events = skipped.map(({ job, run }) => runEvent(run, job.name, 'cron.failed'));
  sendEvents(tx, events, nowMs);
  const [inserted] = await Promise.all([
    tx.query(insertRuns, [accountId, now, ...runColumns(runs, nowMs)]),
    tx.query(advanceJobs, [accountId, ...jobColumns(begun), now]),
    countAccepted(tx, [{ accountId, capability: RUN_PRICE, units: BigInt(charged.length) }]),
  ]);
  if (inserted.count !== runs.length) throw new Error(`${inserted.count} of ${runs.length} runs were recorded`);
}

function runColumns(runs: readonly RunRow[], nowMs: number): Buffer[] {
  return [
    textArray(runs.map((run) => run.run_id)),
    textArray(runs.map((run) => run.job_id)),
    timestampArray(runs.map((run) => run.scheduled_at)),
    timestampArray(runs.map((run) => run.finished_at)),
    textArray(runs.map((run) => run.status)),
    timestampArray(runs.map((run) => (run.status === 'running' ? nowMs + LEASE_MS : null))),
    textArray(runs.map((run) => run.error_code)),
    int8Array(runs.map((run) => run.cost_nanos)),
    int2Array(runs.map((run) => run.timeout_seconds)),
    int2Array(runs.map((run) => run.retries)),
  ];
}

function jobColumns(begun: readonly Beginning[]): Buffer[] {
  return [
    textArray(begun.map(({ job }) => job.job_id)),
    timestampArray(begun.map(({ nextMs }) => nextMs)),
    textArray(begun.map(({ jobStatus }) => jobStatus)),
    textArray(begun.map(({ run }) => run.run_id)),
    textArray(begun.map(({ run }) => JSON.stringify(runRecord(run)))),
  ];
}

/** What webhooks are told of a run that is over. */
export function runEvent(run: RunRow, jobName: string | null, type: 'cron.executed' | 'cron.failed'): NewEvent {
  const object = { ...runRecord(run), job_name: jobName };
  return { accountId: run.account_id, type, data: { object }, requestId: null };
}
