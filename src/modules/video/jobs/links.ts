// Signed links to a video and its thumbnail.
import type { JobLinks, LinkShape } from '../../../jobs/links.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { storedVideoOf } from './row.ts';

export const CONTENT_PATH = '/v1/video/content';

const kinds: ReadonlyMap<string, string> = new Map([
  ['mp4', 'video'],
  ['jpg', 'thumbnail'],
]);

export const videoLinks: LinkShape = {
  secret: 'video-links',
  path: CONTENT_PATH,
  pattern: /^(vid_[0-9A-Za-z]{20,40})\.(mp4|jpg)$/,
  kindOf: (ending) => kinds.get(ending) ?? null,
};

/** Null: there is nothing to fetch. */
export function videoLink(links: JobLinks, job: JobRow, nowMs: number, seconds: number): string | null {
  return storedVideoOf(job) === null ? null : links.link(job, 'mp4', nowMs, seconds);
}

/** Null: there is nothing to fetch. */
export function thumbnailLink(links: JobLinks, job: JobRow, nowMs: number, seconds: number): string | null {
  return storedVideoOf(job)?.thumbnail == null ? null : links.link(job, 'jpg', nowMs, seconds);
}
