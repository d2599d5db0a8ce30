// The sandbox as a kind of background work: a job is made here, in one step. The same request makes the same bytes, so a process that dies
// in between loses nothing but time. What a prompt orders is waited for between steps, so that no thread waits.
import { rm } from 'node:fs/promises';
import { dueWork } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { DEATHS_MAX } from '../../../core/background/suspects.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { type ProblemCode, sharedProblems } from '../../../problems/catalogue.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import { endJob, type JobEnd } from '../jobs/end.ts';
import { gibDayNanos, storageCharge } from '../jobs/price.ts';
import { progressAfter } from '../jobs/progress.ts';
import { assetsOf, forgetUndelivered } from '../jobs/remove.ts';
import { chainOf, type JobRow, type Link, wantedOf } from '../jobs/row.ts';
import { readJob } from '../jobs/store.ts';
import { HANG_MS_MAX, SANDBOX_WORK } from '../limits.ts';
import type { VideoState } from '../state.ts';
import type { Scene } from '../vendors/port.ts';
import { keepVideo } from './keep-video.ts';
import { claimSteps, givenUp, type Step, stepDue, stepOver, stepRenewal, stepRuns } from './steps.ts';

const RENDERING = 'rendering';
/** How far a job that is slow by order is, is written so often. */
const LOOK_MS_MIN = 1_000;
const LOOK_SHARE = 0.05;

export function sandboxLoop(state: VideoState, places: number): JobLoop {
  const { core } = state;
  return dueWork<Step>(core, {
    name: SANDBOX_WORK,
    places,
    perClaim: 1,
    claim: (tx, accountId, wanted) => claimSteps(tx, SANDBOX_WORK, accountId, wanted),
    run: (step, signal, lost) => runStep(state, step, AbortSignal.any([signal, lost])),
    renewal: stepRenewal(core),
    putBack: (tx, step, dueMs) => stepDue(tx, step, dueMs),
  });
}

async function runStep(state: VideoState, step: Step, signal: AbortSignal): Promise<void> {
  const { core } = state;
  await core.assets.require();
  const nowMs = await clockNow(core.db);
  if (nowMs >= step.job.deadline_at) {
    await endJob(state, step.job, { state: 'expired', reason: 'deadline' });
    return;
  }
  if (step.job.deaths >= DEATHS_MAX) {
    await endJob(state, step.job, { state: 'failed', problem: givenUp(step.job) });
    return;
  }
  const made = await follow(state, step, nowMs, signal);
  if (made === null) return;
  const after = await endJob(state, made.job, made.end);
  if (after === null) await forgetUndelivered(core, made.job, made.assets);
}

/** Does as the prompt orders. Null: the job has ended meanwhile, or waits for its next step: no thread waits with it. */
async function follow(state: VideoState, step: Step, nowMs: number, signal: AbortSignal): Promise<Made | null> {
  const { core, videos } = state;
  const { db } = core;
  const scenes = await scenesOf(state, step.job).catch(problemOf);
  if (scenes instanceof Problem) return failed(step.job, scenes);
  const orders = videos.ordersIn(scenes);
  const slowMs = orders.slowSeconds * 1_000;
  const job = await stepRuns(db, step, nowMs, RENDERING, slowMs === 0 ? null : slowMs);
  if (job === null) return null;
  if (orders.fail !== null) return failed(job, ordered(orders.fail));
  const waitsUntilMs = (job.running_at ?? nowMs) + (orders.hang ? HANG_MS_MAX : slowMs);
  if (nowMs < waitsUntilMs) {
    const pauseMs = orders.hang ? HANG_MS_MAX : Math.max(LOOK_MS_MIN, slowMs * LOOK_SHARE);
    const progressPct = orders.hang ? null : progressAfter(job, null, nowMs);
    await stepOver(db, step, job, { dueMs: Math.min(waitsUntilMs, nowMs + pauseMs), progressPct, what: RENDERING });
    return null;
  }
  if (orders.hang) return { job, end: { state: 'expired', reason: 'deadline' }, assets: [] };
  return make(state, step, job, scenes, signal);
}

interface Made {
  readonly job: JobRow;
  readonly end: JobEnd;
  /** To be removed when the job had another end. */
  readonly assets: readonly string[];
}

/** Makes and stores the video. Throws when `signal` ends it: the next step, if there is one, begins anew. */
async function make(
  state: VideoState,
  step: Step,
  job: JobRow,
  scenes: readonly Scene[],
  signal: AbortSignal,
): Promise<Made> {
  const { images, videos } = state;
  const { assets } = state.core;
  const wanted = wantedOf(job);
  const size = { widthPx: wanted.widthPx, heightPx: wanted.heightPx };
  const [videoPath, thumbnailPath] = [await assets.workPath(), await assets.workPath()];
  const doing = { what: RENDERING, pct: null as number | null };
  step.doing = doing;
  try {
    const image = wanted.image === null ? null : await images.cover(job, wanted.image, size, signal);
    await videos.render({
      ...{ scenes, ...size, image, videoPath, thumbnailPath },
      onProgress(pct) {
        doing.pct = pct;
      },
      signal,
    });
    const { widthPx, heightPx, videoSeconds: durationSeconds } = wanted;
    const video = await keepVideo(assets, `${job.account_id}/${job.job_id}.${job.attempt}`, {
      ...{ videoPath, thumbnailPath, contentType: 'video/mp4', widthPx, heightPx, durationSeconds },
    });
    const charge = {
      seconds: wanted.seconds,
      workNanos: BigInt((chainOf(job)[job.position] as Link).quoteNanos),
      ...storageCharge(job, video, gibDayNanos(state.core.prices)),
    };
    const end: JobEnd = { state: 'succeeded', video, warnings: [], charge };
    return { job, end, assets: assetsOf({ ...job, video: JSON.stringify(video) }) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof Problem) return failed(job, error);
    throw error;
  } finally {
    await Promise.all([videoPath, thumbnailPath].map((path) => rm(path, { force: true })));
  }
}

function failed(job: JobRow, failure: Problem): Made {
  return { job, end: { state: 'failed', problem: failure }, assets: [] };
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** What is videoed: of an extension the scenes of its parent too, of an enlarged video those of the original. */
async function scenesOf(state: VideoState, job: JobRow): Promise<Scene[]> {
  const { prompt, seconds, seed } = wantedOf(job);
  const parent = job.parent_job_id === null ? null : await readJob(state.core.db, job.account_id, job.parent_job_id);
  if (job.operation === 'generate') return [{ prompt, seconds, seed }];
  if (parent === null || parent.video === null) throw problem('STATE_CONFLICT', { detail: 'output_expired' });
  const before = await scenesOf(state, parent);
  return job.operation === 'extend' ? [...before, { prompt, seconds, seed }] : before;
}

/** The failure that a prompt ordered. */
function ordered(code: string): Problem {
  const known = code in sharedProblems ? (code as ProblemCode) : 'VENDOR_ERROR';
  return problem(known, { message: 'The prompt ordered this failure.' });
}
