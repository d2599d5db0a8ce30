// Adapter for OpenAI's videos API, also spoken by vLLM-Omni, SGLang and gateways, and for OpenRouter's dialect of it. Wire: POST /videos, GET
// and DELETE /videos/{id}, GET /videos/{id}/content; the base URL ends in /v1.

import { Type } from 'typebox';
import { at, fieldsOf, firstTextAt, numberAt, textAt } from '../../../vendors/call/answer.ts';
import { fetchFile, URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import type { VendorJob } from '../../../vendors/call/job.ts';
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
import { withoutParent } from './parent.ts';
import type { VideoAdapter, VideoModelRow, VideoProgress, VideoWork } from './port.ts';

type Body = Record<string, unknown>;

export const openaiVideos: VideoAdapter = {
  name: 'openai-videos',
  baseUrl: 'https://api.openai.com/v1',
  extendsBy: 'job',
  modelFields: {
    dialect: Type.Optional(Type.Enum(['openai', 'openrouter'])),
    body: Type.Optional(Type.Enum(['multipart', 'json'])),
    dimensions: Type.Optional(Type.Enum(['size', 'width_height'])),
    extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  check(model) {
    const faults = [];
    if (model.upscale) faults.push({ field: 'upscale', message: 'This wire has no upscaling.' });
    if (model.extend === 'continuation') {
      faults.push({ field: 'extend', message: 'An extension on this wire is stitched.' });
    }
    return [...faults, ...(model.options.dialect === 'openrouter' ? openrouterFaults(model) : [])];
  },
  async submit(call, work) {
    const credentials = bearer(call);
    const headers = { 'idempotency-key': work.token };
    const readJob = (body: unknown) => jobOf(body, work);
    if (work.operation === 'extend') {
      const parent = work.parent?.job ?? null;
      if (parent === null) return withoutParent('This vendor extends only videos that it has made itself.');
      const body = { video: { id: parent.reference }, prompt: work.prompt, seconds: String(work.seconds) };
      const url = `${call.baseUrl}/videos/extensions`;
      return submitJob(call, { url, credentials, headers, body }, readError, readJob);
    }
    const isForm = work.options.dialect !== 'openrouter' && work.options.body !== 'json';
    const body = isForm ? formOf(work) : work.options.dialect === 'openrouter' ? openrouterBody(work) : jsonBody(work);
    return submitJob(call, { url: `${call.baseUrl}/videos`, credentials, headers, body }, readError, readJob);
  },
  poll,
  async cancel(call, job) {
    if (job.details.dialect === 'openrouter') return { kind: 'impossible' };
    const question = { method: 'DELETE', url: jobUrl(call, job), credentials: bearer(call) } as const;
    return cancelUnfinished(call, await poll(call, job), question, readError);
  },
  download: (call, url) => fetchFile(call, bearer(call), url),
  async purge(call, job) {
    if (job.details.dialect === 'openrouter') return false;
    return removeCopy(call, { url: jobUrl(call, job), credentials: bearer(call) }, readError);
  },
};

function openrouterFaults(model: VideoModelRow) {
  return unsayable({ extend: model.extend !== null, negative_prompt: model.negativePrompt }, 'The dialect openrouter');
}

function jobUrl(call: VendorCall, { reference }: VendorJob): string {
  return `${call.baseUrl}/videos/${encodeURIComponent(reference)}`;
}

function jobOf(body: unknown, work: VideoWork): VendorJob | null {
  const reference = referenceAt(body, 'id');
  const dialect = work.options.dialect === 'openrouter' ? 'openrouter' : 'openai';
  return reference === null ? null : { reference, details: { dialect, operation: work.operation } };
}

/** What both forms of OpenAI's own dialect say. */
function fields(work: VideoWork): Body {
  const { prompt, model, seconds, width, height, seed, negativePrompt, options } = work;
  return {
    ...fieldsOf(options.extra),
    model,
    prompt,
    seconds: String(seconds),
    ...(options.dimensions === 'width_height' ? { width, height } : { size: `${width}x${height}` }),
    ...(seed !== null && { seed }),
    ...(negativePrompt !== null && { negative_prompt: negativePrompt }),
  };
}

function jsonBody(work: VideoWork): Body {
  return { ...fields(work), ...(work.image && { input_reference: { image_url: dataUrl(work.image) } }) };
}

function formOf(work: VideoWork): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields(work))) {
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  if (work.image !== null) {
    const { bytes, contentType } = work.image;
    const file = new Blob([new Uint8Array(bytes)], { type: contentType });
    form.set('input_reference', file, `reference.${contentType.slice('image/'.length)}`);
  }
  return form;
}

function openrouterBody(work: VideoWork): Body {
  const { prompt, model, seconds, resolution, aspectRatio, seed, image, options } = work;
  return {
    ...fieldsOf(options.extra),
    model,
    prompt,
    duration: seconds,
    resolution: resolution === '4k' ? '4K' : resolution,
    aspect_ratio: aspectRatio,
    ...(seed !== null && { seed }),
    ...(image && {
      frame_images: [{ type: 'image_url', image_url: { url: dataUrl(image) }, frame_type: 'first_frame' }],
    }),
  };
}

function poll(call: VendorCall, job: VendorJob): Promise<VideoProgress> {
  return pollJob(call, { url: jobUrl(call, job), credentials: bearer(call) }, readError, (body) =>
    textAt(body, 'status') === null ? null : progressOf(call, job, body),
  );
}

function progressOf(call: VendorCall, job: VendorJob, body: unknown): VideoProgress {
  const { kind, warning } = readStatus(at(body, 'status'));
  if (kind === 'succeeded') return succeededProgress(call, job, body);
  if (kind === 'failed') return failedJob(call, readError(body) ?? { said: '', means: null });
  if (kind === 'cancelled' || kind === 'expired') return { kind, bill: 'nothing' };
  const progress = numberAt(body, 'progress');
  const progressPct = progress !== null && progress >= 0 && progress <= 100 ? progress : null;
  return { kind, progressPct, step: textAt(body, 'status', 40), warning };
}

function succeededProgress(call: VendorCall, job: VendorJob, body: unknown): VideoProgress {
  const content = `${jobUrl(call, job)}/content`;
  const named = firstTextAt(body, ['unsigned_urls.0', 'url', 'video_url'], URL_CHARACTERS_MAX);
  const elsewhere = named === null ? null : (URL.parse(named, `${call.baseUrl}/`)?.href ?? null);
  // Of an extension the whole video's length is reported, of which only a part was made.
  const seconds = job.details.operation === 'extend' ? null : numberAt(body, 'seconds');
  return {
    kind: 'succeeded',
    videoUrl: elsewhere ?? content,
    thumbnailUrl: elsewhere === null ? `${content}?variant=thumbnail` : null,
    bill: seconds !== null && seconds > 0 ? { units: seconds } : 'quote',
  };
}

/** `{error: {message, type, code}}`; servers of one's own also answer that flat, or `{detail}`; OpenRouter's jobs say `error: "…"`. */
function readError(body: unknown): VendorError | null {
  const flat = textAt(body, 'error') ?? textAt(body, 'detail');
  const error = fieldsOf(at(body, 'error')) ?? (at(body, 'object') === 'error' ? fieldsOf(body) : null);
  if (error === null && flat === null) return at(body, 'detail') === undefined ? null : { said: '', means: 'invalid' };
  const said = flat ?? textAt(error, 'message', 10_000) ?? '';
  const codes = flat ?? [textAt(error, 'code'), textAt(error, 'type')].join(' ');
  if (at(error, 'metadata.reasons') !== undefined) return { said, means: 'content' };
  return { said, means: meaningOf(MEANINGS, codes) };
}

const MEANINGS: Meanings = [
  ['content', /content_policy|content_filter|moderation|safety|sensitive|policy_violation|flagged/i],
  ['funds', /insufficient_quota|insufficient_credits|insufficient_funds|billing/i],
  ['auth', /invalid_api_key|authentication/i],
  ['busy', /rate_limit|concurren|too_many/i],
];
