// The route of signed links: serves a job's output, whole or in byte ranges, without a key.
import { assetBytes } from '../assets/asset-bytes.ts';
import { clockNow } from '../core/database-clock.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../kit/raw-route.ts';
import type { Services } from '../kit/services.ts';
import { problem } from '../problems/problem.ts';
import type { JobHost } from './kind.ts';
import type { JobRow } from './row.ts';

/** Bytes that are kept. */
export interface StoredFile {
  readonly asset: string;
  /** Strong, in its quotes. */
  readonly etag: string;
  readonly sizeBytes: number;
}

/** A file of a job, as it is answered. */
export interface JobFile extends StoredFile {
  readonly contentType: string;
  readonly filename: string;
}

export interface JobFiles {
  /** `video.content`. */
  readonly name: string;
  /** As in its links. */
  readonly path: string;
  /** Told when there is no such file any more. */
  readonly gone: string;
  /** `kind`: as it was signed. Null: the job has no such file, or none any more. */
  fileOf(job: JobRow, kind: string): JobFile | null;
}

const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' } as const;

const preflight: RawAnswer = {
  status: 204,
  headers: { ...open, 'access-control-allow-methods': 'GET, HEAD', 'access-control-allow-headers': 'range, if-range' },
  body: '',
};

export function contentRouteOf(files: JobFiles): RawRoute<JobHost> {
  return {
    name: files.name,
    methods: ['GET', 'HEAD', 'OPTIONS'],
    path: `${files.path}/{name}`,
    capability: null,
    stream: 'answer',
    bodyBytesMax: 1_024,
    answer: (request, host) =>
      request.method === 'OPTIONS' ? Promise.resolve(preflight) : content(files, request, host),
  };
}

async function content(
  files: JobFiles,
  { params, query }: RawRequest,
  { core, kind, shown }: JobHost,
): Promise<RawAnswer> {
  const named = shown.links.read(params.name ?? '', query);
  const { store } = kind.tables;
  const [job, nowMs] = await Promise.all([store.find(core.db, named.accountId, named.jobId), clockNow(core.db)]);
  if (named.endMs <= nowMs) throw problem('LINK_EXPIRED');
  return fileAnswer(core, files, job, named.kind, {
    ...open,
    'access-control-expose-headers': 'content-length, content-range, etag',
    'cache-control': 'private, max-age=3600, no-transform',
  });
}

/** The bytes of a job, whole or the part that is asked for. Throws NOT_FOUND where there are none. */
export function fileAnswer(
  core: Services,
  { fileOf, gone }: Pick<JobFiles, 'fileOf' | 'gone'>,
  job: JobRow | null,
  kind: string,
  headers: Readonly<Record<string, string>>,
): RawAnswer {
  const file = job === null ? null : fileOf(job, kind);
  if (file === null) throw problem('NOT_FOUND', { message: gone });
  return {
    status: 200,
    headers: {
      'content-type': file.contentType,
      'content-disposition': `inline; filename="${file.filename}"`,
      ...headers,
    },
    body: {
      length: file.sizeBytes,
      etag: file.etag,
      open: (start, end) => assetBytes(core, file.asset, { start, end, gone }),
    },
  };
}
