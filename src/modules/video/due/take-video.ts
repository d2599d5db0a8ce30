// The vendor has made the video: it is fetched, looked through, kept here, and only then has the job succeeded. What is fetched twice is the
// same video; what cannot be delivered costs its caller nothing.

import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Assets } from '../../../assets/assets.ts';
import { billedFor } from '../../../jobs/bill.ts';
import { fetching } from '../../../jobs/due/steps.ts';
import { adapterOf, endWithout, goOnLater, positionOf, vendorWorks } from '../../../jobs/due/vendor-step.ts';
import { endJob } from '../../../jobs/end.ts';
import type { SucceededAt, VendorStep } from '../../../jobs/kind.ts';
import { gibDayNanos, storageCharge } from '../../../jobs/price.ts';
import { forgetUndelivered } from '../../../jobs/remove.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { problem } from '../../../problems/problem.ts';
import { type AttemptRow, endAttempt } from '../../../routing/attempts.ts';
import { bookSale } from '../../../routing/bills.ts';
import { AssetGone } from '../../../vendors/assets/port.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { type StoredVideo, videoSecondsOf, wantedOf } from '../jobs/row.ts';
import { saveThumbnail } from '../jobs/thumbnail.ts';
import type { VideoState } from '../state.ts';
import type { VideoFiles } from '../vendors/port.ts';
import { keepVideo, videoAsset } from './keep-video.ts';

type Made = SucceededAt<VideoFiles>;

const VIDEO_BYTES_MAX = 2 * 1024 ** 3;
/** A length that differs by more than both is told. */
const OFF_SHARE = 0.1;
const OFF_SECONDS = 1;

type Fetched =
  | { readonly kind: 'kept'; readonly video: StoredVideo }
  | { readonly kind: 'again' | 'unsound'; readonly message: string };

/** What of the module it takes to take a video. */
type Own = Omit<VideoState, 'vendorWork'>;

export async function takeVideo(
  own: Own,
  vendorStep: VendorStep,
  attempt: AttemptRow,
  call: VendorCall,
  made: Made,
): Promise<void> {
  const { step, signal, lost } = vendorStep;
  const { shape, steps } = own.kind.tables;
  const what = fetching(shape);
  const job = await vendorWorks(vendorStep, what);
  step.doing = { what, pct: null };
  // Should the process die of it, that is seen.
  if (job === null || !(await steps.goesOn(own.core.db, step))) return;
  const fetched = await fetchVideo(own, job, attempt, { ...call, signal: AbortSignal.any([signal, lost]) }, made);
  if (fetched.kind === 'kept') await succeed(own, { ...vendorStep, job }, attempt, fetched.video, made);
  else if (fetched.kind === 'again') await goOnLater({ ...vendorStep, job }, { what });
  else await unsound({ ...vendorStep, job }, attempt, fetched.message, made);
}

async function fetchVideo(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  { videoUrl, thumbnailUrl }: Made,
): Promise<Fetched> {
  const { videos } = own;
  const { assets, log } = own.core;
  await assets.require();
  const [videoPath, thumbnailPath] = [await assets.workPath(), await assets.workPath()];
  const name = `${job.account_id}/${job.job_id}.${attempt.attempt_id}`;
  try {
    // A step before may have kept it, and died before that was written.
    if (!(await copyTo(assets, videoAsset(name), videoPath))) {
      const download = await adapterOf(own, attempt).download(call, videoUrl);
      if (download.kind !== 'opened') {
        log.info(
          { jobId: job.job_id, vendor: attempt.vendor, message: download.message },
          'a video could not be fetched',
        );
        return { kind: download.kind === 'unsound' ? 'unsound' : 'again', message: download.message };
      }
      const broken = await write(download.body, videoPath, call.signal);
      if (broken !== null) return { kind: 'again', message: broken };
    }
    const checked = await videos.check(videoPath, call.signal);
    if (checked.kind === 'unsound') return checked;
    const hasThumbnail =
      (await fetchThumbnail(own, job, attempt, call, thumbnailUrl, thumbnailPath)) ||
      (await videos.frame({ path: videoPath, contentType: checked.contentType }, thumbnailPath, call.signal));
    const video = { ...checked, videoPath, thumbnailPath: hasThumbnail ? thumbnailPath : null };
    return { kind: 'kept', video: await keepVideo(assets, name, video) };
  } finally {
    await Promise.all([videoPath, thumbnailPath].map((path) => rm(path, { force: true })));
  }
}

/** Why the video has not come whole; null: it has. Throws when `signal` ends it, and when it cannot be written. */
async function write(body: Readable, path: string, signal: AbortSignal): Promise<string | null> {
  let failure: Error | null = null;
  body.once('error', (error) => {
    failure = error;
  });
  try {
    await pipeline(body, createWriteStream(path, { mode: 0o600 }), { signal });
    return null;
  } catch (error) {
    if (failure === null || signal.aborted) throw error;
    return (failure as Error).message;
  }
}

async function copyTo(assets: Assets, key: string, path: string): Promise<boolean> {
  try {
    await pipeline(assets.open(key, 0, VIDEO_BYTES_MAX - 1), createWriteStream(path, { mode: 0o600 }));
    return true;
  } catch (error) {
    if (error instanceof AssetGone) return false;
    throw error;
  }
}

/** A video does not fail for want of its thumbnail. */
async function fetchThumbnail(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  url: string | null,
  path: string,
): Promise<boolean> {
  if (url === null) return false;
  const download = await adapterOf(own, attempt).download(call, url);
  return download.kind === 'opened' && saveThumbnail(own.pictures, job, download.body, path, call.signal);
}

async function succeed(
  { core, kind, times }: Own,
  vendorStep: VendorStep,
  attempt: AttemptRow,
  video: StoredVideo,
  { bill }: Made,
): Promise<void> {
  const { host, job } = vendorStep;
  const { account_id: accountId } = job;
  const { vendor } = attempt;
  const { vendorNanos: billedNanos, charge } = billedFor(kind, job, positionOf(job, attempt), bill);
  const stored = storageCharge(job, video.sizeBytes, gibDayNanos(core.prices, kind.storagePrice));
  const end = {
    state: 'succeeded',
    made: JSON.stringify(video),
    warnings: warningsOf(job, video),
    charge: { ...charge, ...stored },
  } as const;
  const after = await endJob(host, job, end, {
    async also(tx, nowMs) {
      await endAttempt(tx, accountId, attempt.attempt_id, nowMs);
      await bookSale(tx, { accountId, vendor, billedNanos, capturedNanos: charge.workNanos }, nowMs);
    },
  });
  if (after === null) return forgetUndelivered(host, job, kind.assetsOf({ ...job, made: end.made }));
  times.learnPace(job.model, wantedOf(job).seconds, vendorStep.nowMs() - (job.running_at ?? job.created_at));
}

function warningsOf(job: JobRow, { durationSeconds }: StoredVideo): string[] {
  const seconds = videoSecondsOf(job);
  const off = Math.abs(durationSeconds - seconds);
  if (off <= OFF_SECONDS || off <= OFF_SHARE * seconds) return [];
  return [`The video is ${Number(durationSeconds.toFixed(1))} seconds long, not ${seconds}.`];
}

function unsound(vendorStep: VendorStep, attempt: AttemptRow, reason: string, { bill }: Made): Promise<void> {
  const message = `What the vendor delivered is no sound video: ${reason}`;
  const end = { state: 'failed', problem: problem('VENDOR_ERROR', { detail: 'unsound_video', message }) } as const;
  return endWithout(vendorStep, attempt, end, bill, 'unsound');
}
