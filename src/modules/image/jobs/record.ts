// The record of an image job, as reads, lists and events show it.
import { LINK_SECONDS } from '../../../jobs/limits.ts';
import { type JobWebhook, type Shown, standing } from '../../../jobs/record.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { endingOf } from './links.ts';
import { imagesOf, wantedOf } from './row.ts';

export function jobRecord(row: JobRow, webhooks: readonly JobWebhook[], shown: Shown) {
  const { prompt, size, n, seed } = wantedOf(row);
  const { links, nowMs, linkSeconds = LINK_SECONDS } = shown;
  const images = imagesOf(row).map(({ contentType, widthPx, heightPx, sizeBytes }, i) => ({
    url: links.link(row, endingOf(i, contentType), nowMs, linkSeconds),
    content_type: contentType,
    width: widthPx,
    height: heightPx,
    size_bytes: sizeBytes,
  }));
  return { ...standing(row, webhooks, shown), prompt, size, n, seed, images };
}
