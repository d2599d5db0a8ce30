// Jobs and failures in the format of OpenAI's videos API.
import type { JobState } from '../../../jobs/row.ts';
import { refusal } from '../../../kit/openai-wire.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { jobRecord } from '../jobs/record.ts';
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

/** Fields of video.generate by their names here. */
const params: ReadonlyMap<string, string> = new Map([
  ['duration_seconds', 'seconds'],
  ['resolution', 'size'],
  ['aspect_ratio', 'size'],
  ['reference_image', 'input_reference'],
  ['job_id', 'video_id'],
]);

export function refusalOfVideos(failure: Problem): RawAnswer {
  return refusal(failure, params.get(failure.param ?? '') ?? failure.param ?? null);
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1_000);
}
