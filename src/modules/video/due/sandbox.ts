// Sandbox jobs: all scenes of a job are rendered in one step (src/jobs/due/sandbox.ts).

import { rm } from 'node:fs/promises';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { jobSandbox, madeEnd, RENDERING, type SandboxMade } from '../../../jobs/due/sandbox.ts';
import type { Step } from '../../../jobs/due/step.ts';
import { ordersIn } from '../../../jobs/orders.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { problem } from '../../../problems/problem.ts';
import { wantedOf } from '../jobs/row.ts';
import type { VideoState } from '../state.ts';
import type { Scene } from '../vendors/port.ts';
import { keepVideo } from './keep-video.ts';

export function sandboxLoop(state: VideoState, places: number): JobLoop {
  return jobSandbox(state, places, {
    orders: async (job) => ordersIn((await scenesOf(state, job)).map(({ prompt }) => prompt)),
    make: async (step, job, signal) => make(state, step, job, await scenesOf(state, job), signal),
  });
}

/** Makes and stores the video. Throws when `signal` ends it: the next step, if there is one, begins anew. */
async function make(
  state: VideoState,
  step: Step,
  job: JobRow,
  scenes: readonly Scene[],
  signal: AbortSignal,
): Promise<SandboxMade> {
  const { images, videos, kind } = state;
  const { assets } = state.core;
  const wanted = wantedOf(job);
  const size = { widthPx: wanted.widthPx, heightPx: wanted.heightPx };
  const [videoPath, thumbnailPath] = [await assets.workPath(), await assets.workPath()];
  const doing = { what: RENDERING, pct: null as number | null };
  step.doing = doing;
  try {
    const image = wanted.image === null ? null : await images.cover(job, wanted.image, size, signal);
    await videos.render({
      scenes,
      ...size,
      image,
      videoPath,
      thumbnailPath,
      onProgress(pct) {
        doing.pct = pct;
      },
      signal,
    });
    const { widthPx, heightPx, videoSeconds: durationSeconds } = wanted;
    const video = await keepVideo(assets, `${job.account_id}/${job.job_id}.${job.attempt}`, {
      videoPath,
      thumbnailPath,
      contentType: 'video/mp4',
      widthPx,
      heightPx,
      durationSeconds,
    });
    const end = madeEnd(state, job, JSON.stringify(video), video.sizeBytes);
    return { end, assets: kind.assetsOf({ ...job, made: end.made }) };
  } finally {
    await Promise.all([videoPath, thumbnailPath].map((path) => rm(path, { force: true })));
  }
}

/** What is videoed: of an extension the scenes of its parent too, of an enlarged video those of the original. */
async function scenesOf(state: VideoState, job: JobRow): Promise<Scene[]> {
  const { prompt, seconds, seed } = wantedOf(job);
  const parent =
    job.parent_job_id === null
      ? null
      : await state.kind.tables.store.read(state.core.db, job.account_id, job.parent_job_id);
  if (job.operation === 'generate') return [{ prompt, seconds, seed }];
  if (parent === null || parent.made === null) throw problem('STATE_CONFLICT', { detail: 'output_expired' });
  const before = await scenesOf(state, parent);
  return job.operation === 'extend' ? [...before, { prompt, seconds, seed }] : before;
}
