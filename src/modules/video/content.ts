// The route of signed links: a video or its thumbnail, whole or in parts, without a key.
import { assetBytes } from '../../core/assets/asset-bytes.ts';
import type { Core } from '../../core/context.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import type { AssetKind } from './jobs/links.ts';
import { type JobRow, storedVideoOf } from './jobs/row.ts';
import { findJob } from './jobs/store.ts';
import type { VideoState } from './state.ts';

export const contentRoute: RawRoute<VideoState> = {
  name: 'video.content',
  methods: ['GET', 'HEAD', 'OPTIONS'],
  path: '/v1/video/content/{name}',
  capability: null,
  stream: 'answer',
  bodyBytesMax: 1_024,
  answer: (request, state) => (request.method === 'OPTIONS' ? Promise.resolve(preflight) : content(request, state)),
};

const fileEndings: Readonly<Record<string, string>> = { 'video/mp4': 'mp4', 'video/webm': 'webm', 'image/jpeg': 'jpg' };
const GONE = 'The video was deleted, or its time is over.';
const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' } as const;

const preflight: RawAnswer = {
  status: 204,
  headers: { ...open, 'access-control-allow-methods': 'GET, HEAD', 'access-control-allow-headers': 'range, if-range' },
  body: '',
};

async function content({ params, query }: RawRequest, { core, links }: VideoState): Promise<RawAnswer> {
  const { accountId, jobId, kind, endMs } = links.read(params.name ?? '', query);
  const [job, nowMs] = await Promise.all([findJob(core.db, accountId, jobId), clockNow(core.db)]);
  if (endMs <= nowMs) throw problem('LINK_EXPIRED');
  return videoAnswer(core, job, kind, {
    ...open,
    'access-control-expose-headers': 'content-length, content-range, etag',
    'cache-control': 'private, max-age=3600, no-transform',
  });
}

/** The bytes of a job, whole or the part that is asked for. Throws NOT_FOUND where there are none. */
export function videoAnswer(
  core: Core,
  job: JobRow | null,
  kind: AssetKind,
  headers: Readonly<Record<string, string>>,
): RawAnswer {
  const video = job === null ? null : storedVideoOf(job);
  const asset = kind === 'video' ? video : (video?.thumbnail ?? null);
  if (job === null || video === null || asset === null) throw problem('NOT_FOUND', { message: GONE });
  const contentType = kind === 'video' ? video.contentType : 'image/jpeg';
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-disposition': `inline; filename="${job.job_id}.${fileEndings[contentType] ?? 'mp4'}"`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: {
      length: asset.sizeBytes,
      etag: asset.etag,
      open: (start, end) => assetBytes(core, asset.asset, { start, end, gone: GONE }),
    },
  };
}
