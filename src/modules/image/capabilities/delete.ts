import { deleteJobOf } from '../../../jobs/operations/ends.ts';
import { oneCard } from './examples.ts';

export const remove = deleteJobOf('img_', 'image.job.failed', {
  path: '/v1/image/delete/{job_id}',
  summary: 'Deletes an image job and what it made.',
  description:
    'A live job is cancelled first. Images, prompt and what was sent are removed, and links to them end at once. Deleting what is gone, or never ' +
    'was, answers the same.',
  keywords: ['remove image', 'delete a picture'],
  examples: [{ title: 'Gone', before: [oneCard], input: { job_id: '$0.job_id' }, expect: { ok: true } }],
});
