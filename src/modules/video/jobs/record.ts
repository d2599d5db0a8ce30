// Record of a video job, as reads, lists and events show it.
import { LINK_SECONDS } from '../../../jobs/limits.ts';
import { type JobWebhook, type Shown, standing } from '../../../jobs/record.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { thumbnailLink, videoLink } from './links.ts';
import { linkOf, operationOf, storedVideoOf, videoSecondsOf, wantedOf } from './row.ts';

/** The record of the specification, with what we add. */
export function jobRecord(row: JobRow, webhooks: readonly JobWebhook[], shown: Shown) {
  const wanted = wantedOf(row);
  const video = storedVideoOf(row);
  const { links, nowMs, linkSeconds = LINK_SECONDS } = shown;
  return {
    ...standing(row, webhooks, shown),
    operation: operationOf(row),
    prompt: wanted.prompt,
    duration_seconds: videoSecondsOf(row),
    aspect_ratio: wanted.aspectRatio,
    resolution: wanted.resolution,
    seed: wanted.seed,
    video_url: videoLink(links, row, nowMs, linkSeconds),
    thumbnail_url: thumbnailLink(links, row, nowMs, linkSeconds),
    parent_job_id: row.parent_job_id,
    extend_mode: row.operation === 'extend' ? (linkOf(row).extend ?? null) : null,
    width: video?.widthPx ?? null,
    height: video?.heightPx ?? null,
    size_bytes: video?.sizeBytes ?? null,
  };
}
