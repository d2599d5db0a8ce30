// Takes over a video that the vendor has finished: fetches, checks and stores it (src/jobs/due/take.ts).

import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Assets } from '../../../assets/assets.ts';
import { type Fetched, takeMade } from '../../../jobs/due/take.ts';
import { adapterOf } from '../../../jobs/due/vendor-step.ts';
import type { SucceededAt, VendorStep } from '../../../jobs/kind.ts';
import type { JobRow } from '../../../jobs/row.ts';
import type { AttemptRow } from '../../../routing/attempts.ts';
import { AssetGone } from '../../../vendors/assets/port.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { type StoredVideo, videoSecondsOf } from '../jobs/row.ts';
import { saveThumbnail } from '../jobs/thumbnail.ts';
import type { VideoState } from '../state.ts';
import type { VideoFiles } from '../vendors/port.ts';
import { keepVideo, videoAsset } from './keep-video.ts';

type Made = SucceededAt<VideoFiles>;

const VIDEO_BYTES_MAX = 2 * 1024 ** 3;
/** A length that differs by more than both is told. */
const OFF_SHARE = 0.1;
const OFF_SECONDS = 1;

/** What of the module it takes to take a video. */
type Own = Omit<VideoState, 'vendorWork'>;

export function takeVideo(
  own: Own,
  vendorStep: VendorStep,
  attempt: AttemptRow,
  call: VendorCall,
  made: Made,
): Promise<void> {
  const { bill } = made;
  return takeMade<StoredVideo>(vendorStep, attempt, call, {
    bill,
    fetch: (job, fetchCall) => fetchVideo(own, job, attempt, fetchCall, made),
    deliver(job, video) {
      const text = JSON.stringify(video);
      const assets = own.kind.assetsOf({ ...job, made: text });
      return { made: text, assets, sizeBytes: video.sizeBytes, warnings: warningsOf(job, video), bill };
    },
  });
}

async function fetchVideo(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  { videoUrl, thumbnailUrl }: Made,
): Promise<Fetched<StoredVideo>> {
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
    const checked = await videos.check(job.account_id, videoPath, call.signal);
    if (checked.kind === 'unsound') return checked;
    const hasThumbnail =
      (await fetchThumbnail(own, job, attempt, call, thumbnailUrl, thumbnailPath)) ||
      (await videos.frame(
        job.account_id,
        { path: videoPath, contentType: checked.contentType },
        thumbnailPath,
        call.signal,
      ));
    const video = { ...checked, videoPath, thumbnailPath: hasThumbnail ? thumbnailPath : null };
    return { kind: 'kept', stored: await keepVideo(assets, name, video) };
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

function warningsOf(job: JobRow, { durationSeconds }: StoredVideo): string[] {
  const seconds = videoSecondsOf(job);
  const off = Math.abs(durationSeconds - seconds);
  if (off <= OFF_SECONDS || off <= OFF_SHARE * seconds) return [];
  return [`The video is ${Number(durationSeconds.toFixed(1))} seconds long, not ${seconds}.`];
}
