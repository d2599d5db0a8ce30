// fal's queue. Wire: POST /{model} answers the URLs of status, result and cancellation, which are used unchanged. COMPLETED means that the job
// is over, not that it succeeded. Callbacks are signed with Ed25519 (https://fal.ai/docs, "Webhooks").

import { createHash, createPublicKey, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import { at, parseJson, textAt } from './answer.ts';
import { ask } from './ask.ts';
import { fetchFile } from './fetch-file.ts';
import type {
  CallbackReading,
  JobAdapter,
  JobCancellation,
  JobProgress,
  JobSubmission,
  VendorCallback,
  VendorJob,
} from './job.ts';
import { bodyOf, cancelJob, failedJob, isSuccess, noAnswer, pollJob, referenceAt, submitJob } from './job-calls.ts';
import { readStatus } from './job-status.ts';
import { type Meanings, meaningOf, type VendorError } from './judge.ts';
import type { Refused, VendorCall } from './port.ts';

/** What a module says of the models that it reaches by this queue. */
export interface FalModels<Work extends FalWork, Made> {
  /** Fields of a model's row that say its inputs. */
  readonly modelFields: JobAdapter<Work, Made>['modelFields'];
  /** Why the vendor is not asked; null, or absent: it is. */
  refused?(work: Work): Refused | null;
  input(work: Work): Record<string, unknown>;
  /** Where the result has what was made; null: nowhere. `output`: the place that the row names. */
  readOutput(result: unknown, output: string | undefined): Made | null;
}

interface FalWork {
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly callbackUrl: string | null;
  readonly deadlineMinutes: number;
}

/** An adapter of its own memory for the keys that callbacks are signed with. */
export function falQueue<Work extends FalWork, Made>(models: FalModels<Work, Made>): JobAdapter<Work, Made> {
  const keys = new LRUCache<string, Readonly<Record<string, unknown>>[]>({ max: 16, ttl: KEYS_KEPT_MS });
  const output = Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,200}$' }));
  return {
    name: 'fal',
    baseUrl: QUEUE_ORIGIN,
    modelFields: { ...models.modelFields, output },
    submit: (call, work) => submit(call, work, models),
    poll: (call, job) => poll(call, job, models),
    cancel,
    download: (call, url) => fetchFile(call, credentials(call), url),
    readCallback: (call, callback) => readCallback(call, callback, keys),
  };
}

function credentials(call: VendorCall): Record<string, string> {
  return call.key === null ? {} : { authorization: `Key ${call.key}` };
}

/** What the vendor keeps of inputs and results goes after a day. */
const LIFECYCLE = JSON.stringify({ expiration_duration_seconds: 86_400 });

async function submit<Work extends FalWork, Made>(
  call: VendorCall,
  work: Work,
  models: FalModels<Work, Made>,
): Promise<JobSubmission> {
  const refused = models.refused?.(work) ?? null;
  if (refused !== null) return refused;
  const query = work.callbackUrl === null ? '' : `?${new URLSearchParams({ fal_webhook: work.callbackUrl })}`;
  const headers = {
    'x-fal-request-timeout': String(work.deadlineMinutes * 60),
    'x-fal-object-lifecycle-preference': LIFECYCLE,
  };
  const body = models.input(work);
  const url = `${call.baseUrl}/${work.model}${query}`;
  return submitJob(call, { url, credentials: credentials(call), headers, body }, readError, (answer) =>
    jobOf(call, work.model, answer, work.options.output),
  );
}

/** The URLs as they came; a callback brings none, so there they are made as the documentation makes them. */
function jobOf(call: VendorCall, model: string, body: unknown, output: unknown): VendorJob | null {
  const reference = referenceAt(body, 'request_id');
  if (reference === null) return null;
  const app = model.split('/').slice(0, 2).join('/');
  const made = `${call.baseUrl}/${app}/requests/${encodeURIComponent(reference)}`;
  const details = {
    status_url: textAt(body, 'status_url') ?? `${made}/status`,
    response_url: textAt(body, 'response_url') ?? made,
    cancel_url: textAt(body, 'cancel_url') ?? `${made}/cancel`,
  };
  return { reference, details: typeof output === 'string' ? { ...details, output } : details };
}

async function poll<Work extends FalWork, Made>(
  call: VendorCall,
  job: VendorJob,
  models: FalModels<Work, Made>,
): Promise<JobProgress<Made>> {
  const asked = { url: job.details.status_url ?? '', credentials: credentials(call) };
  let isOver = false;
  const progress = await pollJob<Made>(call, asked, readError, (body) => {
    if (textAt(body, 'status') === null) return null;
    const { kind, warning } = readStatus(at(body, 'status'));
    isOver = kind === 'succeeded';
    if (kind === 'failed' || (isOver && textAt(body, 'error') !== null)) return failure(call, body);
    const running = kind === 'queued' ? kind : 'running';
    return { kind: running, progressPct: null, step: textAt(body, 'status', 40), warning };
  });
  return isOver && progress.kind === 'running' ? result(call, job, models) : progress;
}

async function result<Work extends FalWork, Made>(
  call: VendorCall,
  job: VendorJob,
  models: FalModels<Work, Made>,
): Promise<JobProgress<Made>> {
  const url = job.details.response_url ?? '';
  const timeoutMs = call.timeouts.pollMs;
  const reply = await ask(call, { method: 'GET', url, credentials: credentials(call), timeoutMs });
  const body = bodyOf(reply);
  if (isSuccess(reply)) {
    const made = models.readOutput(body, job.details.output);
    if (made !== null) return { kind: 'succeeded', bill: 'quote', ...made };
    return body === undefined ? noAnswer(call, reply, readError) : failedJob(call, NOTHING, 'quote');
  }
  const status = reply.kind === 'answered' ? reply.status : 0;
  if (status === 404 || status === 410) return { kind: 'gone' };
  // The model's own answer, kept: asking again changes nothing. What concerns us and the present moment is not the model's.
  const isModels = readError(body) !== null && status >= 400 && ![401, 402, 403, 408, 429].includes(status);
  return isModels ? failure(call, body) : noAnswer(call, reply, readError);
}

const NOTHING: VendorError = { said: 'the result holds nothing at the place named by `output`', means: null };

function failure(call: VendorCall, body: unknown): Exclude<JobProgress<unknown>, { kind: 'succeeded' }> {
  const type = textAt(body, 'error_type') ?? '';
  if (/cancel/i.test(type)) return { kind: 'cancelled', bill: 'nothing' };
  if (/^(request|startup)_timeout$/i.test(type)) return { kind: 'expired', bill: 'nothing' };
  return failedJob(call, readError(body) ?? { said: textAt(body, 'error', 10_000) ?? '', means: null });
}

function cancel(call: VendorCall, job: VendorJob): Promise<JobCancellation> {
  const question = { method: 'PUT', url: job.details.cancel_url ?? '', credentials: credentials(call) } as const;
  return cancelJob(call, question, readError, (status) =>
    status === 202 ? { kind: 'requested' } : { kind: 'stopped', bill: 'nothing' },
  );
}

/** `{detail: "…", error_type}` of the platform, `{detail: [{msg, type}]}` of models, `{error, error_type}` within a status. */
function readError(body: unknown): VendorError | null {
  const first = at(body, 'detail.0');
  const said = textAt(first, 'msg', 10_000) ?? textAt(body, 'detail', 10_000) ?? textAt(body, 'error', 10_000);
  if (said === null && at(body, 'detail') === undefined && textAt(body, 'error_type') === null) return null;
  const text = `${textAt(first, 'type')} ${textAt(body, 'error_type')} ${said}`;
  return { said: said ?? '', means: meaningOf(MEANINGS, text) };
}

const MEANINGS: Meanings = [
  ['content', /content_policy|content.{0,20}flagged|nsfw/i],
  ['funds', /exhausted balance|user is locked|insufficient/i],
  ['busy', /concurren|rate.?limit/i],
];

type Keys = LRUCache<string, Readonly<Record<string, unknown>>[]>;
/** Keys change; whoever forges calls makes us ask no more often than this. */
const KEYS_KEPT_MS = 10 * 60_000;
const KEYS_MAX = 16;
const SIGNED_WITHIN_S = 300;
const QUEUE_ORIGIN = 'https://queue.fal.run';
const KEYS_URL = 'https://rest.fal.ai/.well-known/jwks.json';

async function readCallback(call: VendorCall, callback: VendorCallback, keys: Keys): Promise<CallbackReading> {
  const { headers, body, nowMs, model, options } = callback;
  const [id, user, time, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map(
    (name) => headers[`x-fal-webhook-${name}`],
  );
  if (!id || !user || !time || !signature) return { kind: 'forged', message: 'A header of the signature is missing.' };
  if (!(Math.abs(nowMs / 1000 - Number(time)) <= SIGNED_WITHIN_S)) {
    return { kind: 'forged', message: 'The time of the signature is more than 5 minutes off.' };
  }
  const set = await signingKeys(call, keys);
  if (set === null) return { kind: 'unanswered', message: 'The keys of signatures cannot be fetched now.' };
  const digest = createHash('sha256').update(body).digest('hex');
  const message = Buffer.from([id, user, time, digest].join('\n'));
  if (!set.some((key) => isSignedBy(key, message, signature))) {
    return { kind: 'forged', message: 'No key of the vendor fits the signature.' };
  }
  return { kind: 'taken', signed: true, job: jobOf(call, model, parseJson(body), options.output) };
}

/** A gateway in fal's place has its keys at its own origin. */
async function signingKeys(call: VendorCall, keys: Keys): Promise<Readonly<Record<string, unknown>>[] | null> {
  const origin = new URL(call.baseUrl).origin;
  const known = keys.get(origin);
  if (known !== undefined) return known;
  const url = origin === QUEUE_ORIGIN ? KEYS_URL : `${origin}/.well-known/jwks.json`;
  const reply = await ask(call, { method: 'GET', url, credentials: {}, timeoutMs: call.timeouts.pollMs });
  const found = isSuccess(reply) ? at(bodyOf(reply), 'keys') : undefined;
  if (!Array.isArray(found)) return null;
  const usable = found.filter((key) => at(key, 'kty') === 'OKP' && at(key, 'crv') === 'Ed25519').slice(0, KEYS_MAX);
  if (usable.length === 0) return null;
  keys.set(origin, usable);
  return usable;
}

/** RFC 8037: a JWK of kind OKP on Ed25519. */
function isSignedBy(jwk: Readonly<Record<string, unknown>>, message: Buffer, signature: string): boolean {
  try {
    return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'hex'));
  } catch {
    return false;
  }
}
