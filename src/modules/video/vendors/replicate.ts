// Adapter for Replicate. Wire: POST /predictions or /models/{owner}/{name}/predictions, then the URLs of the answer; the base URL ends in /v1.
// Files are removed an hour after the prediction. Callbacks are signed by Standard Webhooks 1.0 with the account's secret.

import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Webhook } from 'standardwebhooks';
import { Type } from 'typebox';
import { timestamp } from '../../../db/types.ts';
import { at, firstTextAt, parseJson, textAt } from '../../../vendors/call/answer.ts';
import { ask } from '../../../vendors/call/ask.ts';
import { fetchFile, URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import type {
  CallbackReading,
  JobCancellation,
  JobSearch,
  JobSubmission,
  VendorCallback,
  VendorJob,
} from '../../../vendors/call/job.ts';
import {
  bearer,
  bodyOf,
  cancelJob,
  failedJob,
  isSuccess,
  noAnswer,
  pollJob,
  referenceAt,
  submitJob,
} from '../../../vendors/call/job-calls.ts';
import { readStatus } from '../../../vendors/call/job-status.ts';
import type { VendorError } from '../../../vendors/call/judge.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { inputFaults, inputFields, vendorInput } from './inputs.ts';
import { NO_PUBLIC_ADDRESS, withoutParent } from './parent.ts';
import type { VideoAdapter, VideoProgress, VideoWork } from './port.ts';

/** An adapter of its own memory for the secrets that callbacks are signed with. */
export function replicateAdapter(): VideoAdapter {
  const secrets: Secrets = new LRUCache({ max: 16, ttl: SECRET_KEPT_MS });
  return {
    name: 'replicate',
    baseUrl: 'https://api.replicate.com/v1',
    extendsBy: 'url',
    modelFields: { ...inputFields, output: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,200}$' })) },
    check: inputFaults,
    submit,
    poll,
    cancel,
    download: (call, url) => fetchFile(call, bearer(call), url),
    find,
    readCallback: (call, callback) => readCallback(call, callback, secrets),
  };
}

async function submit(call: VendorCall, work: VideoWork): Promise<JobSubmission> {
  if (work.operation !== 'generate' && !work.parent?.url) return withoutParent(NO_PUBLIC_ADDRESS);
  const { path, version } = placeOf(work.model);
  const body = {
    ...version,
    input: vendorInput(work),
    ...(work.callbackUrl !== null && { webhook: work.callbackUrl, webhook_events_filter: ['completed'] }),
  };
  const headers = { 'cancel-after': `${work.deadlineMinutes}m` };
  const url = `${call.baseUrl}${path}`;
  return submitJob(call, { url, credentials: bearer(call), headers, body }, readError, (answer) =>
    jobOf(call, answer, work.options.output),
  );
}

/** `owner/name` is one of Replicate's own models; everything else is a version, alone or after `owner/name:`. */
function placeOf(model: string): { path: string; version?: { version: string } } {
  if (/^[^/:]+\/[^/:]+$/.test(model)) return { path: `/models/${model}/predictions` };
  return { path: '/predictions', version: { version: model.slice(model.indexOf(':') + 1) } };
}

function jobOf(call: VendorCall, body: unknown, output: unknown): VendorJob | null {
  const reference = referenceAt(body, 'id');
  if (reference === null) return null;
  const made = `${call.baseUrl}/predictions/${encodeURIComponent(reference)}`;
  const details = { get: textAt(body, 'urls.get') ?? made, cancel: textAt(body, 'urls.cancel') ?? `${made}/cancel` };
  return { reference, details: typeof output === 'string' ? { ...details, output } : details };
}

function poll(call: VendorCall, job: VendorJob): Promise<VideoProgress> {
  return pollJob(call, { url: job.details.get ?? '', credentials: bearer(call) }, readError, (body) =>
    textAt(body, 'status') === null ? null : progressOf(call, job, body),
  );
}

function progressOf(call: VendorCall, job: VendorJob, body: unknown): VideoProgress {
  const word = textAt(body, 'status', 40);
  const { kind, warning } = readStatus(word);
  // Ended by `Cancel-After` before it began.
  if (word === 'aborted') return { kind: 'expired', bill: 'nothing' };
  if (kind === 'cancelled' || kind === 'expired') return { kind, bill: at(body, 'started_at') ? 'quote' : 'nothing' };
  if (kind === 'failed') return failedJob(call, errorOfJob(body));
  if (kind !== 'succeeded') return { kind, progressPct: null, step: word, warning };
  if (at(body, 'data_removed') === true) return { kind: 'gone' };
  const videoUrl = firstTextAt(
    body,
    job.details.output === undefined ? PLACES : [`output.${job.details.output}`],
    URL_CHARACTERS_MAX,
  );
  if (videoUrl === null) return failedJob(call, NO_VIDEO, 'quote');
  return { kind, videoUrl, thumbnailUrl: null, bill: 'quote' };
}

const PLACES = ['output', 'output.0', 'output.video', 'output.url'];
const NO_VIDEO: VendorError = { said: 'the output holds no video at the place named by `output`', means: null };

const CONTENT = /\(E005\)|flagged|nsfw|content.?policy|moderation/i;

function errorOfJob(body: unknown): VendorError {
  const said = textAt(body, 'error', 100_000) ?? '';
  return {
    said,
    means: /\(E005\)|flagged as sensitive|nsfw|content.?policy|moderation/i.test(said) ? 'content' : null,
  };
}

function cancel(call: VendorCall, job: VendorJob): Promise<JobCancellation> {
  const question = { method: 'POST', url: job.details.cancel ?? '', credentials: bearer(call) } as const;
  return cancelJob(call, question, readError, (_status, body) => {
    const { kind } = readStatus(at(body, 'status'));
    if (kind === 'cancelled') return { kind: 'stopped', bill: at(body, 'started_at') ? 'quote' : 'nothing' };
    return { kind: kind === 'succeeded' || kind === 'failed' ? 'impossible' : 'requested' };
  });
}

/** Looks among the latest 100 predictions for the one whose callback address ends in the token. */
async function find(
  call: VendorCall,
  token: string,
  { output }: Readonly<Record<string, unknown>>,
): Promise<JobSearch> {
  const url = `${call.baseUrl}/predictions`;
  const reply = await ask(call, { method: 'GET', url, credentials: bearer(call), timeoutMs: call.timeouts.pollMs });
  const results = at(bodyOf(reply), 'results');
  if (!isSuccess(reply) || !Array.isArray(results)) return noAnswer(call, reply, readError);
  const found = results.find((each) => textAt(each, 'webhook')?.endsWith(`/${token}`));
  const job = found === undefined ? null : jobOf(call, found, output);
  return job === null ? { kind: 'not_found' } : { kind: 'found', job };
}

/** `{title, detail, status}`, or `{detail}` alone. */
function readError(body: unknown): VendorError | null {
  const said = textAt(body, 'detail', 10_000) ?? textAt(body, 'title');
  if (said === null) return null;
  if (CONTENT.test(`${at(body, 'title')} ${said}`)) return { said, means: 'content' };
  return { said, means: /insufficient credit|billing|free time limit/i.test(said) ? 'funds' : null };
}

type Secrets = LRUCache<string, string>;
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SECRET_KEPT_MS = 10 * 60_000;
const SIGNED_WITHIN_S = 300;

async function readCallback(call: VendorCall, callback: VendorCallback, secrets: Secrets): Promise<CallbackReading> {
  const { headers, body, nowMs, options } = callback;
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (!id || !time || !signatures) return { kind: 'forged', message: 'A header of the signature is missing.' };
  if (!(Math.abs(nowMs / 1000 - Number(time)) <= SIGNED_WITHIN_S)) {
    return { kind: 'forged', message: 'The time of the signature is more than 5 minutes off.' };
  }
  const secret = await signingSecret(call, secrets);
  if (secret === null) return { kind: 'unanswered', message: 'The secret of signatures cannot be fetched now.' };
  const expected = new Webhook(secret).sign(id, timestamp(Number(time) * 1000), Buffer.from(body));
  if (!signatures.split(' ').some((each) => isSame(each, expected))) {
    return { kind: 'forged', message: 'The signature does not fit.' };
  }
  return { kind: 'taken', signed: true, job: jobOf(call, parseJson(body), options.output) };
}

async function signingSecret(call: VendorCall, secrets: Secrets): Promise<string | null> {
  const owner = `${call.baseUrl} ${call.key}`;
  const known = secrets.get(owner);
  if (known !== undefined) return known;
  const url = `${call.baseUrl}/webhooks/default/secret`;
  const reply = await ask(call, { method: 'GET', url, credentials: bearer(call), timeoutMs: call.timeouts.pollMs });
  const secret = isSuccess(reply) ? textAt(bodyOf(reply), 'key') : null;
  if (secret === null || !SECRET.test(secret)) return null;
  secrets.set(owner, secret);
  return secret;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
