// Adapter for Volcengine Ark and BytePlus ModelArk (Seedance). Wire: POST, GET and DELETE /contents/generations/tasks; the base URL ends in
// /api/v3. A task and its video live 24 hours to 7 days. Only a queued task can be stopped, and deleting a finished one removes it.

import { Type } from 'typebox';
import { at, fieldsOf, numberAt, parseJson, textAt } from '../../../vendors/call/answer.ts';
import { fetchFile, URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import type { ModelFault, VendorJob } from '../../../vendors/call/job.ts';
import {
  bearer,
  cancelUnfinished,
  dataUrl,
  failedJob,
  pollJob,
  referenceAt,
  removeCopy,
  submitJob,
} from '../../../vendors/call/job-calls.ts';
import { readStatus } from '../../../vendors/call/job-status.ts';
import { type Meanings, meaningOf, type VendorError } from '../../../vendors/call/judge.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { unsayable } from './inputs.ts';
import type { VideoAdapter, VideoModelRow, VideoProgress, VideoWork } from './port.ts';

export const ark: VideoAdapter = {
  name: 'ark',
  extendsBy: 'url',
  modelFields: { extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  check: faultsOf,
  submit: (call, work) =>
    submitJob(call, { url: tasksUrl(call), credentials: bearer(call), body: bodyOf(work) }, readError, jobOf),
  poll,
  async cancel(call, job) {
    const question = { method: 'DELETE', url: taskUrl(call, job), credentials: bearer(call) } as const;
    return cancelUnfinished(call, await poll(call, job), question, readError);
  },
  download: (call, url) => fetchFile(call, {}, url),
  purge: (call, job) => removeCopy(call, { url: taskUrl(call, job), credentials: bearer(call) }, readError),
  async readCallback(_call, { body }) {
    return { kind: 'taken', signed: false, job: jobOf(parseJson(body)) };
  },
};

function faultsOf(model: VideoModelRow): ModelFault[] {
  return unsayable({ negative_prompt: model.negativePrompt, extend: model.extend !== null, upscale: model.upscale });
}

function tasksUrl(call: VendorCall): string {
  return `${call.baseUrl}/contents/generations/tasks`;
}

function taskUrl(call: VendorCall, { reference }: VendorJob): string {
  return `${tasksUrl(call)}/${encodeURIComponent(reference)}`;
}

function jobOf(body: unknown): VendorJob | null {
  const reference = referenceAt(body, 'id');
  return reference === null ? null : { reference, details: {} };
}

function bodyOf(work: VideoWork): Record<string, unknown> {
  const { model, prompt, seconds, resolution, aspectRatio, seed, image, callbackUrl, options } = work;
  const text = { type: 'text', text: prompt };
  const frame = image && { type: 'image_url', image_url: { url: dataUrl(image) }, role: 'first_frame' };
  return {
    ...fieldsOf(options.extra),
    model,
    content: frame === null ? [text] : [text, frame],
    resolution,
    ratio: aspectRatio,
    duration: seconds,
    execution_expires_after: Math.min(Math.max(work.deadlineMinutes * 60, EXPIRY_MIN_S), EXPIRY_MAX_S),
    ...(seed !== null && { seed }),
    ...(callbackUrl !== null && { callback_url: callbackUrl }),
  };
}

const EXPIRY_MIN_S = 3_600;
const EXPIRY_MAX_S = 259_200;

function poll(call: VendorCall, job: VendorJob): Promise<VideoProgress> {
  return pollJob(call, { url: taskUrl(call, job), credentials: bearer(call) }, readError, (body) =>
    textAt(body, 'status') === null ? null : progressOf(call, body),
  );
}

function progressOf(call: VendorCall, body: unknown): VideoProgress | null {
  const { kind, warning } = readStatus(at(body, 'status'));
  if (kind === 'failed') return failedJob(call, readError(body) ?? { said: '', means: null });
  if (kind === 'cancelled' || kind === 'expired') return { kind, bill: 'nothing' };
  if (kind !== 'succeeded') return { kind, progressPct: null, step: textAt(body, 'status', 40), warning };
  const videoUrl = textAt(body, 'content.video_url', URL_CHARACTERS_MAX);
  if (videoUrl === null) return null;
  const seconds = numberAt(body, 'duration');
  return { kind, videoUrl, thumbnailUrl: null, bill: seconds !== null && seconds > 0 ? { units: seconds } : 'quote' };
}

/** `{error: {code, message, param, type}}`. */
function readError(body: unknown): VendorError | null {
  const error = fieldsOf(at(body, 'error'));
  if (error === null) return null;
  const code = textAt(error, 'code') ?? '';
  const said = textAt(error, 'message', 10_000) ?? code;
  return { said, means: meaningOf(MEANINGS, `${code} ${said}`) };
}

/** Of the code; a quota may also be a number of tasks, which only the message tells from an exhausted trial. */
const MEANINGS: Meanings = [
  ['content', /^\S*(SensitiveContent|PolicyViolation|RiskDetection|PrivacyInformation)/i],
  ['funds', /^\S*(AccountOverdue|InsufficientBalance|SetLimitExceeded)|^QuotaExceeded .*free trial/i],
  ['auth', /^\S*(Authentication|AccessDenied|ModelNotOpen|InvalidAccountStatus)/i],
  ['busy', /^\S*(RateLimit|QuotaExceeded|Overloaded|TooManyRequests|BurstTooFast)/i],
  ['invalid', /^\S*(InvalidParameter|MissingParameter)/i],
];
