import { deleteJobOf } from '../../../jobs/operations/ends.ts';
import { oneSecond } from './examples.ts';

export const remove = deleteJobOf('vid_', 'video.job.failed', {
  path: '/v1/video/delete/{job_id}',
  summary: 'Deletes a video job and what it made.',
  description:
    'A live job is cancelled first. Video, thumbnail, prompt and reference image are removed, and links to them end at once. Deleting what ' +
    'is gone, or never was, answers the same.',
  keywords: ['remove video', 'delete video'],
  examples: [{ title: 'Gone', before: [oneSecond], input: { job_id: '$0.job_id' }, expect: { ok: true } }],
});
