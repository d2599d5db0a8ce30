// The sandbox as background work: it makes a job's output in this process, in one step. The same request gives the same bytes, so a process that
// dies meanwhile loses only time. Delays ordered by a prompt are spent between steps, so they occupy no thread.

import { dueWork } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { DEATHS_MAX } from '../../core/background/suspects.ts';
import { clockNow } from '../../core/database-clock.ts';
import { type ProblemCode, sharedProblems } from '../../problems/catalogue.ts';
import { Problem, problem } from '../../problems/problem.ts';
import { endJob, type JobEnd } from '../end.ts';
import type { JobHost } from '../kind.ts';
import { HANG_MS_MAX } from '../limits.ts';
import type { SandboxOrders } from '../orders.ts';
import { gibDayNanos, storageCharge } from '../price.ts';
import { progressAfter } from '../progress.ts';
import { forgetUndelivered } from '../remove.ts';
import { chainOf, type JobRow, type Link } from '../row.ts';
import { sandboxWorkOf } from '../shape.ts';
import type { Step } from './step.ts';
import { givenUp } from './steps.ts';

export const RENDERING = 'rendering';
/** How far a job that is slow by order is, is written so often. */
const LOOK_MS_MIN = 1_000;
const LOOK_SHARE = 0.05;

export interface SandboxMade {
  readonly end: JobEnd;
  /** To be removed when the job had another end. */
  readonly assets: readonly string[];
}

export interface JobSandbox {
  /** Throws the Problem of a job that cannot be made. */
  orders(job: JobRow): Promise<SandboxOrders>;
  /** Makes and stores it. Throws the Problem of a failure, and when `signal` ends it: the next step, if there is one, begins anew. */
  make(step: Step, job: JobRow, signal: AbortSignal): Promise<SandboxMade>;
}

/** The end of a job that was made: it costs its quote, and the storage of so many bytes. */
export function madeEnd({ core, kind }: Pick<JobHost, 'core' | 'kind'>, job: JobRow, made: string, sizeBytes: number) {
  const charge = {
    units: kind.unitsOf(job),
    workNanos: BigInt((chainOf(job)[job.position] as Link).quoteNanos),
    ...storageCharge(job, sizeBytes, gibDayNanos(core.prices, kind.storagePrice)),
  };
  return { state: 'succeeded', made, warnings: [], charge } satisfies JobEnd;
}

/** `places`: jobs that are made at once on this process. */
export function jobSandbox(host: JobHost, places: number, sandbox: JobSandbox): JobLoop {
  const { shape, steps } = host.kind.tables;
  const work = sandboxWorkOf(shape);
  return dueWork<Step>(host.core, {
    name: work,
    places,
    perClaim: 1,
    claim: (tx, accountId, wanted) => steps.claim(tx, work, accountId, wanted),
    run: (step, signal, lost) => runStep(host, sandbox, step, AbortSignal.any([signal, lost])),
    renewal: steps.renewal(host.core),
    putBack: (tx, step, dueMs) => steps.due(tx, step, dueMs),
  });
}

async function runStep(host: JobHost, sandbox: JobSandbox, step: Step, signal: AbortSignal): Promise<void> {
  const { core } = host;
  await core.assets.require();
  const nowMs = await clockNow(core.db);
  if (nowMs >= step.job.deadline_at) {
    await endJob(host, step.job, { state: 'expired', reason: 'deadline' });
    return;
  }
  if (step.job.deaths >= DEATHS_MAX) {
    await endJob(host, step.job, { state: 'failed', problem: givenUp(step.job) });
    return;
  }
  const made = await follow(host, sandbox, step, nowMs, signal);
  if (made === null) return;
  const after = await endJob(host, made.job, made.end);
  if (after === null) await forgetUndelivered(host, made.job, made.assets);
}

type Followed = SandboxMade & { readonly job: JobRow };

/** Does as the prompt orders. Null: the job has ended meanwhile, or waits for its next step: no thread waits with it. */
async function follow(
  { core, kind }: JobHost,
  sandbox: JobSandbox,
  step: Step,
  nowMs: number,
  signal: AbortSignal,
): Promise<Followed | null> {
  const { db } = core;
  const { steps } = kind.tables;
  const orders = await sandbox.orders(step.job).catch(problemOf);
  if (orders instanceof Problem) return failedJob(step.job, orders);
  const slowMs = orders.slowSeconds * 1_000;
  const job = await steps.runs(db, step, nowMs, RENDERING, slowMs === 0 ? null : slowMs);
  if (job === null) return null;
  if (orders.fail !== null) return failedJob(job, orderedFailure(orders.fail));
  const waitsUntilMs = (job.running_at ?? nowMs) + (orders.hang ? HANG_MS_MAX : slowMs);
  if (nowMs < waitsUntilMs) {
    const pauseMs = orders.hang ? HANG_MS_MAX : Math.max(LOOK_MS_MIN, slowMs * LOOK_SHARE);
    const progressPct = orders.hang ? null : progressAfter(job, null, nowMs);
    await steps.over(db, step, job, { dueMs: Math.min(waitsUntilMs, nowMs + pauseMs), progressPct, what: RENDERING });
    return null;
  }
  if (orders.hang) return { job, end: { state: 'expired', reason: 'deadline' }, assets: [] };
  try {
    return { job, ...(await sandbox.make(step, job, signal)) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Problem)) throw error;
    return failedJob(job, error);
  }
}

function failedJob(job: JobRow, failure: Problem): Followed {
  return { job, end: { state: 'failed', problem: failure }, assets: [] };
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** The failure that a prompt ordered. */
function orderedFailure(code: string): Problem {
  const known = code in sharedProblems ? (code as ProblemCode) : 'VENDOR_ERROR';
  return problem(known, { message: 'The prompt ordered this failure.' });
}
