// Adapter for Alibaba's DashScope (Wan). Wire: POST /services/aigc/video-generation/video-synthesis, GET /tasks/{id}, POST /tasks/{id}/cancel;
// the base URL ends in /api/v1, one per region. Ids and videos live 24 hours; only a waiting task can be stopped.

import { Type } from 'typebox';
import { at, fieldsOf, numberAt, textAt } from '../../../vendors/call/answer.ts';
import { fetchFile, URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import type { JobBill, ModelFault, VendorJob } from '../../../vendors/call/job.ts';
import {
  bearer,
  cancelJob,
  dataUrl,
  failedJob,
  pollJob,
  referenceAt,
  submitJob,
} from '../../../vendors/call/job-calls.ts';
import { readStatus } from '../../../vendors/call/job-status.ts';
import { type Meanings, meaningOf, type VendorError } from '../../../vendors/call/judge.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { unsayable } from './inputs.ts';
import type { VideoAdapter, VideoModelRow, VideoProgress, VideoWork } from './port.ts';

export const dashscope: VideoAdapter = {
  name: 'dashscope',
  extendsBy: 'url',
  modelFields: {
    // Models up to 2.6 take width and height from text and the image's own shape, later ones resolution and ratio for both.
    dialect: Type.Optional(Type.Enum(['wan2.6', 'wan2.7'])),
    extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  check: faultsOf,
  submit: (call, work) =>
    submitJob(
      call,
      {
        url: `${call.baseUrl}/services/aigc/video-generation/video-synthesis`,
        credentials: bearer(call),
        headers: { 'x-dashscope-async': 'enable' },
        body: bodyOf(work),
      },
      readError,
      jobOf,
    ),
  poll,
  cancel: (call, job) =>
    cancelJob(call, { method: 'POST', url: `${taskUrl(call, job)}/cancel`, credentials: bearer(call) }, readError),
  download: (call, url) => fetchFile(call, {}, url),
};

function faultsOf(model: VideoModelRow): ModelFault[] {
  return unsayable({ extend: model.extend !== null, upscale: model.upscale });
}

function taskUrl(call: VendorCall, { reference }: VendorJob): string {
  return `${call.baseUrl}/tasks/${encodeURIComponent(reference)}`;
}

function jobOf(body: unknown): VendorJob | null {
  const reference = referenceAt(body, 'output.task_id');
  return reference === null ? null : { reference, details: {} };
}

function bodyOf(work: VideoWork): Record<string, unknown> {
  const { model, prompt, negativePrompt, seconds, seed, image, options } = work;
  const isLater = options.dialect === 'wan2.7';
  const frame =
    image && (isLater ? { media: [{ type: 'first_frame', url: dataUrl(image) }] } : { img_url: dataUrl(image) });
  return {
    model,
    input: { prompt, ...(negativePrompt !== null && { negative_prompt: negativePrompt }), ...frame },
    parameters: {
      ...fieldsOf(options.extra),
      ...(isLater ? laterShape(work) : shape(work)),
      duration: seconds,
      ...(seed !== null && { seed }),
    },
  };
}

function shape({ image, resolution, width, height }: VideoWork): Record<string, string> {
  return image === null ? { size: `${width}*${height}` } : { resolution: resolution.toUpperCase() };
}

function laterShape({ resolution, aspectRatio }: VideoWork): Record<string, string> {
  return { resolution: resolution.toUpperCase(), ratio: aspectRatio };
}

function poll(call: VendorCall, job: VendorJob): Promise<VideoProgress> {
  return pollJob(call, { url: taskUrl(call, job), credentials: bearer(call) }, readError, (body) =>
    textAt(body, 'output.task_status') === null ? null : progressOf(call, body),
  );
}

function progressOf(call: VendorCall, body: unknown): VideoProgress | null {
  const word = textAt(body, 'output.task_status', 40);
  // Said of tasks that never were, and of those older than a day.
  if (word?.toLowerCase() === 'unknown') return { kind: 'gone' };
  const { kind, warning } = readStatus(word);
  if (kind === 'failed') return failedJob(call, readError(at(body, 'output')) ?? { said: '', means: null });
  if (kind === 'cancelled' || kind === 'expired') return { kind, bill: 'nothing' };
  if (kind !== 'succeeded') return { kind, progressPct: null, step: word, warning };
  const videoUrl = textAt(body, 'output.video_url', URL_CHARACTERS_MAX);
  return videoUrl === null ? null : { kind, videoUrl, thumbnailUrl: null, bill: billOf(at(body, 'usage')) };
}

/** The length of what was made; later models count what they were given into `duration`. */
function billOf(usage: unknown): JobBill {
  const seconds =
    numberAt(usage, 'output_video_duration') ?? numberAt(usage, 'video_duration') ?? numberAt(usage, 'duration');
  return seconds !== null && seconds > 0 ? { units: seconds } : 'quote';
}

/** `{code, message, request_id}`, flat; in a failed task within `output`. */
function readError(body: unknown): VendorError | null {
  const code = textAt(body, 'code');
  if (code === null) return null;
  const said = textAt(body, 'message', 10_000) ?? code;
  return { said, means: meaningOf(MEANINGS, code) };
}

const MEANINGS: Meanings = [
  ['content', /DataInspection|IPInfringement|CustomRoleBlocked/i],
  ['funds', /Arrearage|FreeTierOnly|AllocationQuota\.FreeTier|PrepaidBillOverdue|PostpaidBillOverdue/i],
  ['auth', /InvalidApiKey|AccessDenied|Unpurchased/i],
  ['busy', /Throttling|LimitRequests|RateQuota|AllocationQuota/i],
  ['invalid', /InvalidParameter|InvalidURL|BadRequest|DataLen|InvalidSize/i],
];
