// Who is told of the end of a job. A row is due from the job's end until it was told, or given up.

import { openTurn } from '../../../core/background/turns.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { WEBHOOK_WORK } from '../limits.ts';
import type { JobWebhook } from './record.ts';
import { isLive, type JobRow } from './row.ts';

interface WebhookRow {
  readonly job_id: string;
  readonly url: string;
  readonly status: JobWebhook['status'];
  readonly attempt: number;
}

const selectWebhooks = statement(
  'video_select_webhooks',
  `SELECT w.job_id, w.url, w.status, w.attempt FROM video.webhook w
    WHERE w.account_id = $1 AND w.job_id = ANY($2::text[]) ORDER BY w.job_id, w.number`,
);
const insertWebhook = statement(
  'video_insert_webhook',
  `INSERT INTO video.webhook (account_id, job_id, number, url, status, due_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);
const releaseWebhooks = statement(
  'video_release_webhooks',
  `UPDATE video.webhook SET status = 'pending', due_at = $3 WHERE account_id = $1 AND job_id = $2 AND status = 'waiting'`,
);

/** By job, in the order in which they were added. */
export async function webhooksOf(
  db: Queryable,
  accountId: string,
  jobIds: readonly string[],
): Promise<Map<string, JobWebhook[]>> {
  if (jobIds.length === 0) return new Map();
  const { rows } = await db.query<WebhookRow>(selectWebhooks, [accountId, textArray(jobIds)]);
  const found = new Map<string, JobWebhook[]>(jobIds.map((jobId) => [jobId, []]));
  for (const { job_id, url, status, attempt } of rows) found.get(job_id)?.push({ url, status, attempts: attempt });
  return found;
}

/** Sends the insert of one more, the `number`-th of the job; of a job that has ended it is due at once. */
export function sendWebhook(tx: Transaction, job: JobRow, number: number, url: string, nowMs: number): JobWebhook {
  const status = isLive(job.state) ? 'waiting' : 'pending';
  const due = status === 'pending' ? timestamp(nowMs) : null;
  void tx.query(insertWebhook, [job.account_id, job.job_id, number, url, status, due]);
  if (due !== null) void openTurn(tx, job.account_id, WEBHOOK_WORK, nowMs);
  return { url, status, attempts: 0 };
}

/** The job has ended: all that wait are due. */
export async function releaseJobWebhooks(tx: Transaction, job: JobRow, nowMs: number): Promise<void> {
  const { count } = await tx.query(releaseWebhooks, [job.account_id, job.job_id, timestamp(nowMs)]);
  if (count > 0) await openTurn(tx, job.account_id, WEBHOOK_WORK, nowMs);
}
