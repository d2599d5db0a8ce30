// The sandbox as a kind of background work: a job is made here, in one step. The same request makes the same bytes, so a process that dies
// in between loses nothing but time.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { dueWork } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { priceOf } from '../../../core/wallet/prices.ts';
import { type ProblemCode, sharedProblems } from '../../../problems/catalogue.ts';
import { Problem } from '../../../problems/problem.ts';
import type { Scene } from '../../../vendors/video/port.ts';
import { endJob, type JobEnd } from '../jobs/end.ts';
import { storagePrice } from '../jobs/price.ts';
import { assetsOf, forgetAssets } from '../jobs/remove.ts';
import { chainOf, type Film, type JobRow, type Link, wantedOf } from '../jobs/row.ts';
import { readJob } from '../jobs/store.ts';
import { SANDBOX_WORK } from '../limits.ts';
import { problem } from '../problems.ts';
import type { VideoState } from '../state.ts';
import { claimSteps, type Step, stepDue, stepGoesOn, stepRuns } from './steps.ts';

// So often a step says that it lives and how far it is, and hears that its job was cancelled.
const LOOK_MS = 1_000;

export function sandboxLoop(state: VideoState, places: number): JobLoop {
  const { core } = state;
  return dueWork<Step>(core, {
    name: SANDBOX_WORK,
    places,
    perClaim: 1,
    claim: (tx, accountId, wanted) => claimSteps(tx, SANDBOX_WORK, accountId, wanted),
    run: (step, signal) => runStep(state, step, signal),
    putBack: (tx, step, dueMs) => stepDue(tx, step, dueMs),
  });
}

async function runStep(state: VideoState, step: Step, signal: AbortSignal): Promise<void> {
  const { core, store } = state;
  await store.require();
  const nowMs = await clockNow(core.db);
  if (nowMs >= step.job.deadline_at) {
    await endJob(state, step.job, { state: 'expired', reason: 'deadline' });
    return;
  }
  const job = await stepRuns(core.db, step, nowMs, 'rendering', null);
  if (job === null) return;
  const made = await make(state, step, job, signal);
  if (made === null) return;
  const after = await endJob(state, job, made.end);
  if (after === null) await forgetAssets(core, made.assets);
}

interface Made {
  readonly end: JobEnd;
  /** To be removed when the job had another end. */
  readonly assets: readonly string[];
}

/** Makes and stores the film. Null: the job has ended meanwhile. Throws when `signal` ends it: the next step begins anew. */
async function make(state: VideoState, step: Step, job: JobRow, signal: AbortSignal): Promise<Made | null> {
  const { images } = state;
  const { assets, films } = state.core;
  const wanted = wantedOf(job);
  const [filmPath, thumbnailPath] = [await assets.workPath(), await assets.workPath()];
  const watch = new Watch(state, step, signal);
  try {
    const image = wanted.image === null ? null : (await images.open(wanted.image, watch.signal)).bytes;
    const outcome = await films.render({
      scenes: await scenesOf(state, job),
      ...{ widthPx: wanted.widthPx, heightPx: wanted.heightPx, image, filmPath, thumbnailPath },
      onProgress: (pct) => watch.report(pct),
      signal: watch.signal,
    });
    if (outcome.kind === 'refused') return { end: { state: 'failed', problem: ordered(outcome.code) }, assets: [] };
    const film = await keep(state, job, filmPath, thumbnailPath);
    const charge = {
      seconds: wanted.seconds,
      workNanos: BigInt((chainOf(job)[job.place] as Link).quoteNanos),
      ...storageOf(state, job, film),
    };
    const end: JobEnd = { state: 'succeeded', film, warnings: [], charge };
    return { end, assets: assetsOf({ ...job, film: JSON.stringify(film) }) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (watch.isLost) return null;
    if (error instanceof Problem) return { end: { state: 'failed', problem: error }, assets: [] };
    throw error;
  } finally {
    watch.end();
    await Promise.all([filmPath, thumbnailPath].map((path) => rm(path, { force: true })));
  }
}

/** Says once a second how far the step is; when it is not ours any more, its work is ended. */
class Watch {
  readonly #state: VideoState;
  readonly #step: Step;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;
  isLost = false;
  #pct = 0;

  constructor(state: VideoState, step: Step, signal: AbortSignal) {
    this.#state = state;
    this.#step = step;
    this.signal = AbortSignal.any([signal, this.#stopped.signal]);
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  report(pct: number): void {
    this.#pct = pct;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const pct = Math.min(99, Math.floor(this.#pct));
    try {
      if (await stepGoesOn(this.#state.core.db, this.#step, pct, 'rendering')) return;
      this.isLost = true;
      this.#stopped.abort(new Error('the job has ended'));
    } catch (err) {
      // The lease outlives some failures; when it ends, another step takes the job over and this one's end is refused.
      this.#state.core.log.warn({ err, jobId: this.#step.id }, 'the progress of a film could not be written');
    }
  }
}

/** What is filmed: of an extension the scenes of its parent too, of an enlarged film those of the original. */
async function scenesOf(state: VideoState, job: JobRow): Promise<Scene[]> {
  const { prompt, seconds, seed } = wantedOf(job);
  const parent = job.parent_job_id === null ? null : await readJob(state.core.db, job.account_id, job.parent_job_id);
  if (job.operation === 'generate') return [{ prompt, seconds, seed }];
  if (parent === null || parent.film === null) throw problem('STATE_CONFLICT', { detail: 'output_expired' });
  const before = await scenesOf(state, parent);
  return job.operation === 'extend' ? [...before, { prompt, seconds, seed }] : before;
}

async function keep(
  { core: { assets } }: VideoState,
  job: JobRow,
  filmPath: string,
  thumbnailPath: string,
): Promise<Film> {
  const { widthPx, heightPx, filmSeconds } = wantedOf(job);
  const name = `${job.account_id}/${job.job_id}.${job.attempt}`;
  const [film, thumbnail] = await Promise.all([sealed(filmPath), sealed(thumbnailPath)]);
  await assets.putFile(`${name}.mp4`, filmPath);
  await assets.putFile(`${name}.jpg`, thumbnailPath);
  return {
    asset: `${name}.mp4`,
    contentType: 'video/mp4',
    ...film,
    ...{ widthPx, heightPx, durationSeconds: filmSeconds },
    thumbnail: { asset: `${name}.jpg`, ...thumbnail },
  };
}

async function sealed(path: string): Promise<{ etag: string; sizeBytes: number }> {
  const bytes = await readFile(path);
  return { etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`, sizeBytes: bytes.length };
}

function storageOf({ core }: VideoState, job: JobRow, film: Film) {
  if (!job.store) return { storageNanos: 0n, storageUnits: 0n };
  const bytes = film.sizeBytes + (film.thumbnail?.sizeBytes ?? 0);
  const price = storagePrice(bytes, job.retention_days, priceOf(core.prices, 'video.storage', 1n));
  // Never above what was held for it.
  return { storageNanos: price.nanos < job.storage_nanos ? price.nanos : job.storage_nanos, storageUnits: price.units };
}

/** The failure that a prompt ordered. */
function ordered(code: string): Problem {
  const known = code in sharedProblems ? (code as ProblemCode) : 'VENDOR_ERROR';
  return problem(known, { message: 'The prompt ordered this failure.' });
}
