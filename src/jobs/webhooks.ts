// Webhook deliveries of job ends. A row is due from the job's end until it is delivered or given up.

import { openTurn } from '../core/background/turns.ts';
import { textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import type { JobWebhook } from './record.ts';
import { isLive, type JobRow } from './row.ts';
import { type JobShape, webhookWorkOf } from './shape.ts';

interface WebhookRow {
  readonly job_id: string;
  readonly url: string;
  readonly status: JobWebhook['status'];
  readonly attempt: number;
}

export class JobWebhooks {
  readonly #work: string;
  readonly #of: ReturnType<typeof statementsOf>;

  constructor(shape: JobShape) {
    this.#work = webhookWorkOf(shape);
    this.#of = statementsOf(shape);
  }

  /** By job, in the order in which they were added. */
  async of(db: Queryable, accountId: string, jobIds: readonly string[]): Promise<Map<string, JobWebhook[]>> {
    if (jobIds.length === 0) return new Map();
    const { rows } = await db.query<WebhookRow>(this.#of.select, [accountId, textArray(jobIds)]);
    const found = new Map<string, JobWebhook[]>(jobIds.map((jobId) => [jobId, []]));
    for (const { job_id, url, status, attempt } of rows) found.get(job_id)?.push({ url, status, attempts: attempt });
    return found;
  }

  /** Sends the insert of one more, the `number`-th of the job; of a job that has ended it is due at once. */
  send(tx: Transaction, job: JobRow, number: number, url: string, nowMs: number): JobWebhook {
    const status = isLive(job.state) ? 'waiting' : 'pending';
    const due = status === 'pending' ? timestamp(nowMs) : null;
    void tx.query(this.#of.insert, [job.account_id, job.job_id, number, url, status, due]);
    if (due !== null) void openTurn(tx, job.account_id, this.#work, nowMs);
    return { url, status, attempts: 0 };
  }

  /** The job has ended: all that wait are due. */
  async release(tx: Transaction, job: JobRow, nowMs: number): Promise<void> {
    const { count } = await tx.query(this.#of.release, [job.account_id, job.job_id, timestamp(nowMs)]);
    if (count > 0) await openTurn(tx, job.account_id, this.#work, nowMs);
  }
}

function statementsOf({ name }: JobShape) {
  return {
    select: statement(
      `${name}_select_webhooks`,
      `SELECT w.job_id, w.url, w.status, w.attempt FROM ${name}.webhook w
    WHERE w.account_id = $1 AND w.job_id = ANY($2::text[]) ORDER BY w.job_id, w.number`,
    ),
    insert: statement(
      `${name}_insert_webhook`,
      `INSERT INTO ${name}.webhook (account_id, job_id, number, url, status, due_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    ),
    release: statement(
      `${name}_release_webhooks`,
      `UPDATE ${name}.webhook SET status = 'pending', due_at = $3 WHERE account_id = $1 AND job_id = $2 AND status = 'waiting'`,
    ),
  };
}
