// SQL of jobs as their owner sees and changes them. A change that makes a job due holds the account's lock (lockAccount) and opens the account's
// turn. So no scan for due work misses it.

import { openTurn } from '../../../core/background/turns.ts';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type Changeable, type Resource, resourceTable } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { problem } from '../../../problems/problem.ts';
import { workOf } from '../limits.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';
import { type JobRow, jobText } from './records.ts';

const insertJob = statement(
  'cron_insert_job',
  `INSERT INTO cron.job (account_id, job_id, key_id, name, task_url, cron_expr, timezone, run_at, status, next_run_at,
                         payload, headers, secret, secret_last4, created_at, updated_at, capability, queue, run_as, timeout_seconds, retries)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', $9, $10, $11, $12, $13, $14, $14, $15, $16, $17, $18, $19)`,
);
const updateJob = statement(
  'cron_update_job',
  `UPDATE cron.job
      SET name = $3, task_url = $4, cron_expr = $5, timezone = $6, run_at = $7, next_run_at = $8, payload = $9, headers = $10,
          updated_at = $11, capability = $12, queue = $13, run_as = $14, timeout_seconds = $15, retries = $16
    WHERE account_id = $1 AND job_id = $2`,
);
const updateSecret = statement(
  'cron_update_secret',
  `UPDATE cron.job SET previous_secret = secret, previous_secret_until = $5, secret = $3, secret_last4 = $4
    WHERE account_id = $1 AND job_id = $2`,
);
const updateStatus = statement(
  'cron_update_status',
  `UPDATE cron.job SET status = $3, next_run_at = $4, updated_at = $5 WHERE account_id = $1 AND job_id = $2`,
);

export const jobTable = resourceTable<JobRow>({
  table: 'cron.job',
  key: 'job_id',
  columns: `account_id, job_id, key_id, name, task_url, cron_expr, timezone, run_at, status, next_run_at, payload, headers, secret_last4,
          last_run, created_at, updated_at, capability, queue, run_as, timeout_seconds, retries`,
  isNewestFirst: true,
  filters: ['status'],
  counted: "status <> 'completed'",
});

/** By tier; account.tier shows it. */
export const cronLimits = {
  cron_jobs: {
    description: 'Scheduled jobs that are not completed.',
    used: jobTable.count,
    standard: 100,
    pro: 1_000,
    enterprise: 10_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

/** Jobs as the operations of the module name and show them. */
export const jobs: Resource<JobRow, CronState, typeof jobSchema> = {
  ...jobTable,
  noun: 'job',
  keyName: 'job_id',
  keyField: jobIdField,
  notFound: () => problem('JOB_NOT_FOUND', { param: 'job_id' }),
  output: jobSchema,
  show: (row, { ctx }) => new JsonText(jobText(ctx.core.secrets, row)),
};

/** What a job calls. */
export interface StoredTarget {
  /** Empty: a capability is called. */
  readonly taskUrl: string;
  readonly capability: string | null;
  readonly queue: string | null;
  /** Id of the key. */
  readonly runAs: string | null;
  /** JSON text. */
  readonly payload: string | null;
}

/** What its owner decides about a job, as it is stored. */
export interface StoredSettings extends StoredTarget {
  readonly name: string | null;
  readonly timeoutSeconds: number;
  readonly retries: number;
  readonly cronExpr: string | null;
  readonly timezone: string;
  readonly runAtMs: number | null;
  /** Encrypted. */
  readonly headers: Buffer | null;
}

export interface SealedSecret {
  readonly sealed: Buffer;
  readonly last4: string;
}

/** Adds a job, which is active. */
export async function addJob(
  tx: Transaction,
  accountId: string,
  job: StoredSettings & { jobId: string; keyId: string; nextMs: number; secret: SealedSecret },
  nowMs: number,
): Promise<void> {
  await Promise.all([
    tx.query(insertJob, [
      accountId,
      job.jobId,
      job.keyId,
      job.name,
      job.taskUrl,
      job.cronExpr,
      job.timezone,
      timestamp(job.runAtMs),
      timestamp(job.nextMs),
      job.payload,
      job.headers,
      job.secret.sealed,
      job.secret.last4,
      timestamp(nowMs),
      ...targetValues(job),
    ]),
    openTurn(tx, accountId, workOf(job.timeoutSeconds), job.nextMs),
  ]);
}

/** Replaces the settings and the next slot (null: none); status and secret stay. */
export async function saveJob(
  tx: Transaction,
  accountId: string,
  jobId: string,
  settings: StoredSettings,
  nextMs: number | null,
  nowMs: number,
): Promise<void> {
  const { name, taskUrl, cronExpr, timezone, runAtMs, payload, headers } = settings;
  const values = [name, taskUrl, cronExpr, timezone, timestamp(runAtMs), timestamp(nextMs), payload, headers];
  await Promise.all([
    tx.query(updateJob, [accountId, jobId, ...values, timestamp(nowMs), ...targetValues(settings)]),
    nextMs === null ? null : openTurn(tx, accountId, workOf(settings.timeoutSeconds), nextMs),
  ]);
}

const targetValues = ({ capability, queue, runAs, timeoutSeconds, retries }: StoredSettings) => [
  capability,
  queue,
  runAs,
  timeoutSeconds,
  retries,
];

/** Signs with `secret` from now on, and with the one before it until `previousUntilMs`; an earlier one than that ends. */
export async function replaceSecret(
  tx: Transaction,
  accountId: string,
  jobId: string,
  secret: SealedSecret,
  previousUntilMs: number,
): Promise<void> {
  await tx.query(updateSecret, [accountId, jobId, secret.sealed, secret.last4, timestamp(previousUntilMs)]);
}

/** Jobs as pause and resume change them: status and next slot. */
export const pausableJobs: Changeable<JobRow, CronState, typeof jobSchema> = {
  ...jobs,
  find: findOpenJob,
  async save(tx, { accountId }, row) {
    const { job_id, status, next_run_at: nextMs, updated_at, timeout_seconds: seconds } = row;
    await Promise.all([
      tx.query(updateStatus, [accountId, job_id, status, timestamp(nextMs), timestamp(updated_at)]),
      nextMs === null ? null : openTurn(tx, accountId, workOf(seconds), nextMs),
    ]);
    return row;
  },
};

/** A job that is to be changed or run, under the account's lock. Throws JOB_NOT_FOUND, and STATE_CONFLICT for a completed one. */
export async function requireOpenJob(tx: Queryable, owner: Pick<CallContext, 'accountId'>, jobId: string) {
  const job = await findOpenJob(tx, owner, jobId);
  if (job === null) throw problem('JOB_NOT_FOUND', { param: 'job_id' });
  return job;
}

async function findOpenJob(tx: Queryable, owner: Pick<CallContext, 'accountId'>, jobId: string) {
  const job = await jobTable.find(tx, owner, jobId);
  if (job?.status === 'completed') throw problem('STATE_CONFLICT', { message: 'The job is completed.' });
  return job;
}
