// SQL of jobs. Every change of a job's state increments its version. An end names the version it has seen, so of two ends one wins. Other
// changes by a step are fenced by its attempt.

import { textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { type SqlValue, statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import type { JobRow, JobState } from './row.ts';
import type { JobShape } from './shape.ts';

export const jobColumns = (made: JobShape['madeColumn']) =>
  `j.account_id, j.job_id, j.operation, j.parent_job_id, j.key_id, j.request_id, j.trace_id, j.entry_form, j.state, j.version,
          j.vendor, j.model, j.request, j.chain, j.place AS position, j.left_reason, j.store, j.retention_days, j.hold_id, j.held_nanos,
          j.storage_nanos, j.work, j.due_at, j.attempt, j.progress_pct, j.current_step, j.expected_ms, j.created_at, j.running_at,
          j.deadline_at, j.finished_at, j.ended, j.cost_nanos, j.${made} AS made, j.warnings, j.expires_at, j.deleted, j.worker_id, j.deaths`;

export interface JobFilter {
  readonly state: JobState | null;
  readonly model: string | null;
  readonly vendor: string | null;
  readonly parentId: string | null;
}

/** What a job's money came to, and when it is looked at again. */
interface Settled {
  readonly costNanos: bigint;
  readonly dueMs: number | null;
  /** JSON of Ended. */
  readonly ended: string;
}

export class JobStore {
  readonly #idPattern: RegExp;
  readonly #of: ReturnType<typeof statementsOf>;

  constructor(shape: JobShape) {
    this.#idPattern = new RegExp(`^${shape.idPrefix}[0-9A-Za-z]{20,40}$`);
    this.#of = statementsOf(shape);
  }

  isId(text: string): boolean {
    return this.#idPattern.test(text);
  }

  /** Null when the account has no such job, or deleted it. What no job of ours can be named is not looked up. */
  async find(db: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
    if (!this.isId(jobId)) return null;
    const row = await this.read(db, accountId, jobId);
    return row === null || row.deleted ? null : row;
  }

  /** Deleted ones too. */
  async read(db: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
    return (await db.query<JobRow>(this.#of.select, [accountId, jobId])).rows[0] ?? null;
  }

  /** As it is now, and until the transaction ends; deleted ones too. */
  async lock(tx: Queryable, accountId: string, jobId: string): Promise<JobRow | null> {
    if (!this.isId(jobId)) return null;
    return (await tx.query<JobRow>(this.#of.lock, [accountId, jobId])).rows[0] ?? null;
  }

  /** Newest first, those before `beforeId` (null: all). */
  async list(
    db: Queryable,
    accountId: string,
    { state, model, vendor, parentId }: JobFilter,
    beforeId: string | null,
    limit: number,
  ): Promise<JobRow[]> {
    const values = [accountId, beforeId, state, model, vendor, parentId, limit];
    return (await db.query<JobRow>(this.#of.list, values)).rows;
  }

  /** All jobs, oldest first, those behind `afterId` (null: all). */
  async listUpwards(db: Queryable, accountId: string, afterId: string | null, limit: number): Promise<JobRow[]> {
    return (await db.query<JobRow>(this.#of.listUpwards, [accountId, afterId, limit])).rows;
  }

  /** Of these jobs those whose money is not settled: what owns a hold. */
  async findUnsettled(db: Queryable, accountId: string, ids: readonly string[]): Promise<Set<string>> {
    const { rows } = await db.query<{ job_id: string }>(this.#of.unsettled, [accountId, textArray(ids)]);
    return new Set(rows.map(({ job_id }) => job_id));
  }

  /** Jobs that are queued or running, by account. */
  async live(db: Queryable, accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { rows } = await db.query<{ account_id: string; jobs: number }>(this.#of.live, [textArray(accountIds)]);
    return new Map(rows.map((row) => [row.account_id, row.jobs]));
  }

  /** Sends the insert of a job that begins. */
  sendInsert(tx: Transaction, row: JobRow): void {
    void tx.query(this.#of.insert, insertValues(row));
  }

  /** Of a live job, unless another end was first. */
  async end(tx: Transaction, job: JobRow, after: JobRow, eventId: string): Promise<boolean> {
    const { count } = await tx.query(this.#of.end, [
      ...[job.account_id, job.job_id, job.version, after.state],
      ...[timestamp(after.finished_at), timestamp(after.due_at), after.ended, after.cost_nanos, after.made],
      ...[textArray(after.warnings), timestamp(after.expires_at), after.progress_pct, eventId],
    ]);
    return count === 1;
  }

  /** Of an ended job whose money waited. */
  async settle(tx: Transaction, job: JobRow, { costNanos, dueMs, ended }: Settled): Promise<boolean> {
    const values = [job.account_id, job.job_id, costNanos, timestamp(dueMs), ended];
    return (await tx.query(this.#of.settle, values)).count === 1;
  }

  /** Forgets bytes and words. */
  async purge(tx: Transaction, job: JobRow, request: string, deleted: boolean): Promise<void> {
    await tx.query(this.#of.purge, [job.account_id, job.job_id, request, deleted]);
  }
}

function statementsOf({ name, madeColumn }: JobShape) {
  const columns = jobColumns(madeColumn);
  const one = `SELECT ${columns} FROM ${name}.job j WHERE j.account_id = $1 AND j.job_id = $2`;
  return {
    select: statement(`${name}_select_job`, one),
    lock: statement(`${name}_lock_job`, `${one} FOR UPDATE`),
    list: statement(
      `${name}_select_jobs`,
      `SELECT ${columns}
     FROM ${name}.job j
    WHERE j.account_id = $1 AND NOT j.deleted AND ($2::text IS NULL OR j.job_id < $2::text)
      AND ($3::text IS NULL OR j.state = $3::text) AND ($4::text IS NULL OR j.model = $4::text)
      AND ($5::text IS NULL OR j.vendor = $5::text) AND ($6::text IS NULL OR j.parent_job_id = $6::text)
    ORDER BY j.job_id DESC
    LIMIT $7::int`,
    ),
    listUpwards: statement(
      `${name}_select_jobs_upwards`,
      `SELECT ${columns}
     FROM ${name}.job j
    WHERE j.account_id = $1 AND NOT j.deleted AND ($2::text IS NULL OR j.job_id > $2::text)
    ORDER BY j.job_id
    LIMIT $3::int`,
    ),
    unsettled: statement(
      `${name}_select_live`,
      `SELECT j.job_id FROM ${name}.job j
    WHERE j.account_id = $1 AND j.job_id = ANY($2::text[]) AND (j.state IN ('queued', 'running') OR j.cost_nanos IS NULL)`,
    ),
    live: statement(
      `${name}_count_live_of`,
      `SELECT j.account_id, count(*)::int AS jobs FROM ${name}.job j
    WHERE j.account_id = ANY($1::text[]) AND j.state IN ('queued', 'running') GROUP BY j.account_id`,
    ),
    ...changesOf(name, madeColumn),
  };
}

function changesOf(name: string, made: string) {
  return {
    insert: statement(
      `${name}_insert_job`,
      `INSERT INTO ${name}.job (account_id, job_id, operation, parent_job_id, key_id, request_id, trace_id, entry_form, state, vendor, model,
                          request, chain, store, retention_days, hold_id, held_nanos, storage_nanos, work, due_at, expected_ms,
                          created_at, deadline_at, warnings)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $19, $21, $22)`,
    ),
    end: statement(
      `${name}_end_job`,
      `UPDATE ${name}.job
      SET state = $4, version = version + 1, finished_at = $5, due_at = $6, leased = false, deaths = 0, ended = $7, cost_nanos = $8, ${made} = $9, warnings = $10,
          expires_at = $11, progress_pct = $12, event_id = $13, current_step = NULL
    WHERE account_id = $1 AND job_id = $2 AND version = $3 AND state IN ('queued', 'running')`,
    ),
    settle: statement(
      `${name}_settle_job`,
      `UPDATE ${name}.job SET cost_nanos = $3, due_at = $4, leased = false, ended = $5
    WHERE account_id = $1 AND job_id = $2 AND cost_nanos IS NULL`,
    ),
    purge: statement(
      `${name}_purge_job`,
      `UPDATE ${name}.job SET request = $3, ${made} = NULL, expires_at = NULL, deleted = deleted OR $4
    WHERE account_id = $1 AND job_id = $2`,
    ),
  };
}

function insertValues(row: JobRow): SqlValue[] {
  const who = [row.account_id, row.job_id, row.operation, row.parent_job_id, row.key_id, row.request_id, row.trace_id];
  const what = [row.entry_form, row.vendor, row.model, row.request, row.chain, row.store, row.retention_days];
  const money = [row.hold_id, row.held_nanos, row.storage_nanos, row.work, timestamp(row.created_at), row.expected_ms];
  return [...who, ...what, ...money, timestamp(row.deadline_at), textArray(row.warnings)];
}
