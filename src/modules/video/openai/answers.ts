// Jobs and failures in the shapes of OpenAI's videos.
import type { RawAnswer } from '../../../manifest/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { jobRecord } from '../jobs/record.ts';
import type { JobState } from '../jobs/row.ts';
import { sizeOf } from './request.ts';

const statuses: Readonly<Record<JobState, 'queued' | 'in_progress' | 'completed' | 'failed'>> = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
};

type JobRecord = ReturnType<typeof jobRecord>;

/** `progress`: 0 to 100. */
export function videoOf(job: JobRecord, progress: number) {
  return {
    id: job.job_id,
    object: 'video',
    created_at: secondsOf(job.created_at),
    completed_at: job.finished_at === null ? null : secondsOf(job.finished_at),
    expires_at: job.expires_at === null ? null : secondsOf(job.expires_at),
    status: statuses[job.state],
    progress,
    model: job.model,
    prompt: job.prompt === '' ? null : job.prompt,
    seconds: String(job.duration_seconds),
    size: job.width === null ? sizeOf(job.resolution, job.aspect_ratio) : `${job.width}x${job.height}`,
    remixed_from_video_id: job.parent_job_id,
    error: errorOf(job),
  };
}

function errorOf({ state, error, end_reason: reason }: JobRecord) {
  if (statuses[state] !== 'failed') return null;
  if (error !== null) return { code: error.code, message: error.message };
  return { code: reason ?? state, message: `The job was ${state}.` };
}

export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  const own = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers: { ...own, ...headers }, body: JSON.stringify(body) };
}

const types: readonly (readonly [status: number, type: string])[] = [
  [500, 'server_error'],
  [429, 'rate_limit_error'],
  [404, 'invalid_request_error'],
  [403, 'permission_error'],
  [402, 'insufficient_quota'],
  [401, 'authentication_error'],
  [0, 'invalid_request_error'],
];

/** Fields of video.generate by their names here. */
const params: ReadonlyMap<string, string> = new Map([
  ['duration_seconds', 'seconds'],
  ['resolution', 'size'],
  ['aspect_ratio', 'size'],
  ['reference_image', 'input_reference'],
  ['id', 'video_id'],
]);

/** The official client repeats 409 and 5xx by itself unless it is told not to. */
export function refusal({ httpStatus, code, message, param, retryable, retryAfterMs }: Problem): RawAnswer {
  const [, type] = types.find(([status]) => httpStatus >= status) as (typeof types)[number];
  const wait = retryAfterMs ?? null;
  return json({ error: { message, type, param: params.get(param ?? '') ?? param ?? null, code } }, httpStatus, {
    ...(wait === null
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))), 'retry-after-ms': String(wait) }),
    ...(retryable ? {} : { 'x-should-retry': 'false' }),
  });
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1_000);
}
