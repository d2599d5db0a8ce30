// Content route: a video and its thumbnail behind signed links.
import { contentRouteOf, type JobFile, type JobFiles } from '../../jobs/content.ts';
import type { JobRow } from '../../jobs/row.ts';
import { CONTENT_PATH } from './jobs/links.ts';
import { storedVideoOf } from './jobs/row.ts';

const fileEndings: Readonly<Record<string, string>> = { 'video/mp4': 'mp4', 'video/webm': 'webm', 'image/jpeg': 'jpg' };

export const videoFiles: JobFiles = {
  name: 'video.content',
  path: CONTENT_PATH,
  gone: 'The video was deleted, or its time is over.',
  fileOf,
};

export const contentRoute = contentRouteOf(videoFiles);

function fileOf(job: JobRow, kind: string): JobFile | null {
  const video = storedVideoOf(job);
  const file = kind === 'video' ? video : (video?.thumbnail ?? null);
  if (video === null || file === null) return null;
  const contentType = kind === 'video' ? video.contentType : 'image/jpeg';
  return { ...file, contentType, filename: `${job.job_id}.${fileEndings[contentType] ?? 'mp4'}` };
}
