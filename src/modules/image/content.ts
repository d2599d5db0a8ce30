// The route that serves the images of a job through signed links.
import { contentRouteOf, type JobFiles } from '../../jobs/content.ts';
import { CONTENT_PATH, endingOf } from './jobs/links.ts';
import { imagesOf } from './jobs/row.ts';

const imageFiles: JobFiles = {
  name: 'image.content',
  path: CONTENT_PATH,
  gone: 'The image was deleted, or its time is over.',
  fileOf(job, kind) {
    const image = imagesOf(job)[Number(kind)];
    if (image === undefined) return null;
    return { ...image, filename: `${job.job_id}.${endingOf(Number(kind), image.contentType)}` };
  },
};

export const contentRoute = contentRouteOf(imageFiles);
