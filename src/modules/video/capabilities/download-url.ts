import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { linkExpiresField } from '../../../jobs/fields.ts';
import { LINK_SECONDS } from '../../../jobs/limits.ts';
import { requireJob } from '../../../jobs/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { iso } from '../../../lib/time.ts';
import { problem } from '../../../problems/problem.ts';
import { videoLink } from '../jobs/links.ts';
import { storedVideoOf } from '../jobs/row.ts';
import { jobIdField } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneVideo } from './examples.ts';

export const downloadUrl = defineCapability<VideoState>()({
  method: 'GET',
  path: '/v1/video/download_url/{job_id}',
  summary: 'Makes a link to a video.',
  description:
    'The link needs no key, takes HEAD and ranges, and works until expires_at, or until the video is deleted.',
  keywords: ['download video', 'mp4 link', 'signed video url', 'get the video file'],
  input: Type.Object({ job_id: jobIdField, expires_seconds: linkExpiresField }),
  output: Type.Object({
    job_id: Type.String({ description: 'Id of the job.' }),
    url: Type.String({ description: 'The link.' }),
    expires_at: Type.String({ format: 'date-time', description: 'Until when it works.' }),
    size_bytes: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Bytes of the video.' }),
    content_type: Type.Unsafe<string | null>({ type: ['string', 'null'], description: '`video/mp4` or `video/webm`.' }),
  }),
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Of a video that is done',
      before: [...oneVideo],
      input: { job_id: '$0.job_id', expires_seconds: 600 },
      expect: { content_type: 'video/mp4' },
    },
  ],
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    const [job, nowMs] = await Promise.all([
      requireJob(state.kind.tables, db, ctx.accountId, input.job_id),
      clockNow(db),
    ]);
    if (job.state !== 'succeeded') {
      throw problem('STATE_CONFLICT', {
        detail: job.state,
        message: `The job is ${job.state}: there is no video to fetch.`,
      });
    }
    const seconds = input.expires_seconds ?? LINK_SECONDS;
    const url = videoLink(state.shown.links, job, nowMs, seconds);
    const video = storedVideoOf(job);
    if (url === null || video === null) {
      throw problem('STATE_CONFLICT', { detail: 'output_expired', message: 'The video is not kept any more.' });
    }
    const endMs = Math.min(nowMs + seconds * 1_000, job.expires_at ?? Number.POSITIVE_INFINITY);
    const { sizeBytes: size_bytes, contentType: content_type } = video;
    return { data: { job_id: job.job_id, url, expires_at: iso(endMs), size_bytes, content_type } };
  },
});
