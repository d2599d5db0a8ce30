// How a job begins: its row, its hold and the answer of its call are one commit. Live jobs are counted under the wallet's lock, so an
// account never has more of them than its tier allows.

import { openTurn } from '../../../core/background/turns.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { type SqlValue, statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { problem } from '../../../problems/problem.ts';
import { jobRecord, type Shown } from './record.ts';
import type { JobRow } from './row.ts';
import { sendWebhook } from './webhooks.ts';

/** A job as its call wants it. */
export interface NewJob {
  readonly row: Omit<JobRow, 'hold_id' | 'created_at' | 'due_at' | 'deadline_at'>;
  /** From its acceptance to its deadline. */
  readonly deadlineMs: number;
  /** Live jobs that the account may have. */
  readonly jobsMax: number;
  readonly webhookUrl: string | null;
}

const countLive = statement(
  'video_count_live_of',
  `SELECT j.account_id, count(*)::int AS jobs FROM video.job j
    WHERE j.account_id = ANY($1::text[]) AND j.state IN ('queued', 'running') GROUP BY j.account_id`,
);
const insertJob = statement(
  'video_insert_job',
  `INSERT INTO video.job (account_id, job_id, operation, parent_job_id, key_id, request_id, trace_id, entry_form, state, vendor, model,
                          request, chain, store, retention_days, hold_id, held_nanos, storage_nanos, work, due_at, expected_ms,
                          created_at, deadline_at, warnings)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $19, $21, $22)`,
);

type Item = LaneItem<NewJob, null>;

/** Jobs of the account that are queued or running. */
export async function liveJobCount(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ jobs: number }>(countLive, [textArray([accountId])]);
  return rows[0]?.jobs ?? 0;
}

export class BeginJob implements LaneEffect<NewJob, null> {
  readonly name = 'video.begin';
  readonly #shown: Omit<Shown, 'nowMs'>;

  constructor(shown: Omit<Shown, 'nowMs'>) {
    this.#shown = shown;
  }

  /** One at a time: each is counted against the limit. */
  exclusiveKeys({ accountId }: Item): readonly string[] {
    return [accountId];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<null>[]> {
    const accounts = [...new Set(items.map(({ accountId }) => accountId))].sort();
    const { rows } = await tx.query<{ account_id: string; jobs: number }>(countLive, [textArray(accounts)]);
    const live = new Map(rows.map((row) => [row.account_id, row.jobs]));
    return items.map(({ accountId, input: { jobsMax } }) =>
      (live.get(accountId) ?? 0) < jobsMax
        ? { kind: 'go', context: null }
        : { kind: 'refuse', problem: tooManyJobs(jobsMax) },
    );
  }

  write(tx: Transaction, items: readonly AdmittedItem<NewJob, null>[], nowMs: number): string[] {
    return items.map(({ item: { accountId, input }, holdId }) => {
      const row: JobRow = {
        ...input.row,
        hold_id: holdId as string,
        created_at: nowMs,
        due_at: nowMs,
        deadline_at: nowMs + input.deadlineMs,
      };
      void tx.query(insertJob, valuesOf(row));
      void openTurn(tx, accountId, row.work, nowMs);
      const webhooks = input.webhookUrl === null ? [] : [sendWebhook(tx, row, 1, input.webhookUrl, nowMs)];
      return JSON.stringify(jobRecord(row, webhooks, { ...this.#shown, nowMs }));
    });
  }
}

/** The refusal of a job beyond those that an account may have. */
export function tooManyJobs(jobsMax: number) {
  return problem('CONCURRENCY_LIMITED', {
    detail: 'video_jobs',
    message: `The account has its ${jobsMax} live video jobs; wait until one has ended, or cancel one.`,
    retryAfterMs: 5_000,
  });
}

function valuesOf(row: JobRow): SqlValue[] {
  const who = [row.account_id, row.job_id, row.operation, row.parent_job_id, row.key_id, row.request_id, row.trace_id];
  const what = [row.entry_form, row.vendor, row.model, row.request, row.chain, row.store, row.retention_days];
  const money = [row.hold_id, row.held_nanos, row.storage_nanos, row.work, timestamp(row.created_at), row.expected_ms];
  return [...who, ...what, ...money, timestamp(row.deadline_at), textArray(row.warnings)];
}
