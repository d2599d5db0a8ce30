// SQL shared by all steps of live jobs: due jobs, the lease of a step, and its progress writes. A step is fenced by its attempt, and by the
// job's being live: it cannot write to a cancelled job.

import { hostname } from 'node:os';
import type { Claimed, Wanted } from '../../core/background/due-work.ts';
import { openTurn } from '../../core/background/turns.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { problem } from '../../problems/problem.ts';
import type { FailoverReason } from '../../vendors/call/port.ts';
import { LEASE_MS } from '../limits.ts';
import type { JobRow, Link } from '../row.ts';
import { type JobShape, sandboxWorkOf } from '../shape.ts';
import { jobColumns } from '../store.ts';
import type { Step } from './step.ts';

/** As envelopes name this process. */
const WORKER_ID = `${hostname()}-${process.pid}`;

/** What comes after a step. */
interface StepNext {
  readonly dueMs: number | null;
  /** Else it is seconds away: nobody is woken. */
  readonly atOnce?: boolean;
  readonly progressPct?: number | null;
  readonly what?: string;
}

/** 100 is for what has succeeded. */
const PCT_MAX = 99;
/** Once a second a step that takes long says that it lives, and hears when its job has ended. */
const TELL_EVERY_MS = 1_000;

export const fetching = ({ name }: JobShape) => `fetching the ${name}`;

export class StepStore {
  readonly #of: ReturnType<typeof statementsOf>;

  constructor(shape: JobShape) {
    this.#of = statementsOf(shape);
  }

  /** Leases due steps of one kind of work. */
  async claim(
    tx: Transaction,
    work: string,
    accountId: string,
    { limit, underWay, suspects }: Wanted,
  ): Promise<Claimed<Step>> {
    const ids = textArray(underWay);
    const [claimed, left] = await Promise.all([
      tx.query<JobRow>(this.#of.claim, [accountId, work, limit, ids, LEASE_MS, WORKER_ID, suspects]),
      tx.query<{ due_at: number }>(this.#of.nextDue, [accountId, work]),
    ]);
    const jobs = claimed.rows.map((job) => ({ accountId, id: job.job_id, attempt: job.attempt, job, doing: null }));
    const hasSuspects =
      jobs.length === 0 && !suspects && (await tx.query(this.#of.findSuspect, [accountId, work, ids])).rows.length > 0;
    return { jobs, nextMs: left.rows[0]?.due_at ?? null, hasSuspects };
  }

  renewal({ db }: { readonly db: Queryable }) {
    return {
      everyMs: TELL_EVERY_MS,
      renew: async (step: Step) => step.doing === null || this.goesOn(db, step),
    };
  }

  /** Renews the lease and tells what the step does. False: the step is not ours any more, or the job has ended. */
  async goesOn(db: Queryable, { accountId, id, attempt, doing }: Step): Promise<boolean> {
    const pct = doing?.pct == null ? null : Math.min(PCT_MAX, Math.floor(doing.pct));
    return (await db.query(this.#of.keep, [accountId, id, attempt, pct, doing?.what ?? null, LEASE_MS])).count === 1;
  }

  /** The work has begun: answers the job as it is then; null when the step is not ours any more, or the job has ended. */
  async runs(
    db: Queryable,
    { accountId, id, attempt, job }: Step,
    nowMs: number,
    what: string,
    expectedMs: number | null,
  ): Promise<JobRow | null> {
    if (job.state === 'running') return job;
    const expected = expectedMs === null ? null : BigInt(Math.round(expectedMs));
    const { count } = await db.query(this.#of.run, [accountId, id, attempt, timestamp(nowMs), what, expected]);
    if (count !== 1) return null;
    const begun = { version: job.version + 1, running_at: nowMs, current_step: what, expected_ms: expected };
    return { ...job, state: 'running', ...begun };
  }

  /** The job's next vendor, in the order of its chain, is asked. False: the step is not ours any more, or the job has ended. */
  async asks(
    tx: Transaction,
    { accountId, id, attempt }: Step,
    position: number,
    { vendor, model }: Link,
    leftReason: FailoverReason | null,
  ): Promise<boolean> {
    const values = [accountId, id, attempt, position, vendor, `${vendor}/${model}`, leftReason];
    return (await tx.query(this.#of.choose, values)).count === 1;
  }

  /** The step is over, and the next one due at `dueMs`; null: there is none. Nothing is written of a job that changed meanwhile. */
  async over(db: Database, { accountId, id, attempt }: Step, { version, work }: JobRow, next: StepNext): Promise<void> {
    const { dueMs, progressPct = null, what = null, atOnce = false } = next;
    await db.transaction(async (tx) => {
      const due = timestamp(dueMs);
      const [{ count }] = await Promise.all([
        tx.query(this.#of.lookAgain, [accountId, id, attempt, version, due, progressPct, what]),
        dueMs === null ? null : openTurn(tx, accountId, work, dueMs, { later: !atOnce }),
      ]);
      return count === 1;
    }, accountId);
  }

  /** The step is due again at `dueMs`. */
  async due(db: Queryable, { accountId, id, attempt }: Step, dueMs: number): Promise<void> {
    await db.query(this.#of.putBack, [accountId, id, attempt, timestamp(dueMs)]);
  }
}

/** When the step was claimed, by the clock of the database. */
export const claimedMs = ({ job }: Step) => (job.due_at as number) - LEASE_MS;

/** The failure of a job whose process died again when it ran alone. */
export function givenUp({ deaths }: Pick<JobRow, 'deaths'>) {
  const message = `The process died ${deaths} times while this job ran. It is not tried again.`;
  return problem('INTERNAL_ERROR', { message });
}

function statementsOf(shape: JobShape) {
  const { name, madeColumn } = shape;
  // What is done here with what others made, and may be why a process dies; polls and submissions are not.
  const diedAtWork = `j.leased AND (j.work = '${sandboxWorkOf(shape)}' OR j.current_step = '${fetching(shape)}')`;
  const isSuspect = `(j.deaths > 0 OR coalesce(${diedAtWork}, false))`;
  return {
    claim: statement(
      `${name}_claim`,
      `WITH c AS MATERIALIZED (
     SELECT j.job_id, core.clock_now() + $5 * interval '1 millisecond' AS lease_end
       FROM ${name}.job j
      WHERE j.account_id = $1 AND j.work = $2 AND j.due_at <= core.clock_now() AND j.job_id <> ALL($4::text[]) AND ${isSuspect} = $7
      ORDER BY j.due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   UPDATE ${name}.job j SET due_at = c.lease_end, attempt = j.attempt + 1, leased = true, worker_id = $6,
          deaths = j.deaths + CASE WHEN ${diedAtWork} THEN 1 ELSE 0 END
     FROM c WHERE j.account_id = $1 AND j.job_id = c.job_id
   RETURNING ${jobColumns(madeColumn)}`,
    ),
    findSuspect: statement(
      `${name}_find_suspect`,
      `SELECT 1 AS found FROM ${name}.job j
    WHERE j.account_id = $1 AND j.work = $2 AND j.due_at <= core.clock_now() AND j.job_id <> ALL($3::text[]) AND ${isSuspect} LIMIT 1`,
    ),
    nextDue: statement(
      `${name}_next_due`,
      `SELECT j.due_at FROM ${name}.job j WHERE j.account_id = $1 AND j.work = $2 AND j.due_at IS NOT NULL ORDER BY j.due_at LIMIT 1`,
    ),
    ...changesOf(name),
  };
}

function changesOf(name: string) {
  return {
    keep: statement(
      `${name}_keep_step`,
      `WITH c AS MATERIALIZED (SELECT core.clock_now() + $6 * interval '1 millisecond' AS lease_end)
   UPDATE ${name}.job j
      SET due_at = c.lease_end, progress_pct = greatest(j.progress_pct, $4), current_step = $5
     FROM c WHERE j.account_id = $1 AND j.job_id = $2 AND j.attempt = $3 AND j.leased AND j.state IN ('queued', 'running')`,
    ),
    run: statement(
      `${name}_begin_running`,
      `UPDATE ${name}.job
      SET state = 'running', version = version + 1, running_at = $4, current_step = $5, expected_ms = $6
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND state = 'queued'`,
    ),
    choose: statement(
      `${name}_choose_vendor`,
      `UPDATE ${name}.job SET place = $4, vendor = $5, model = $6, left_reason = $7
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND state IN ('queued', 'running')`,
    ),
    lookAgain: statement(
      `${name}_look_again`,
      `UPDATE ${name}.job SET due_at = $5, leased = false, deaths = 0, progress_pct = greatest(progress_pct, $6), current_step = $7
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND version = $4`,
    ),
    putBack: statement(
      `${name}_put_back`,
      `UPDATE ${name}.job SET due_at = $4, leased = false
    WHERE account_id = $1 AND job_id = $2 AND attempt = $3 AND due_at IS NOT NULL`,
    ),
  };
}
