// Shared code of vendor job adapters: it turns a reply into a submission, a step of the job or the result of a cancellation. An adapter
// supplies the URL, the fields and a reader of its vendor's error body.
import { textAt } from './answer.ts';
import { ask, type Question } from './ask.ts';
import type { JobCancellation, JobProgress, JobSubmission, VendorJob } from './job.ts';
import { judge, plain, type VendorError, type VendorReply } from './judge.ts';
import type { BreakerEffect, VendorCall } from './port.ts';

const REFERENCE_CHARACTERS_MAX = 256;

/** Reads the vendor's error body; null when the body is not the vendor's. */
export type ReadError = (body: unknown, status: number) => VendorError | null;

/** Submits a job: once, and what came of it is certain or said to be unknown. */
export async function submitJob(
  call: VendorCall,
  question: Omit<Question, 'timeoutMs' | 'method'>,
  readError: ReadError,
  readJob: (body: unknown) => VendorJob | null,
): Promise<JobSubmission> {
  const reply = await ask(call, { method: 'POST', timeoutMs: call.timeouts.submitMs, ...question });
  const job = isSuccess(reply) ? readJob(bodyOf(reply)) : null;
  if (job !== null) return { kind: 'accepted', job };
  return judge(reply, errorOf(reply, readError), { awaits: 'job', key: call.key });
}

/** Asks for something that changes nothing; `read` gets the body of a success. */
export async function pollJob<Made>(
  call: VendorCall,
  question: Pick<Question, 'url' | 'credentials'>,
  readError: ReadError,
  read: (body: unknown) => JobProgress<Made> | null,
): Promise<JobProgress<Made>> {
  const reply = await ask(call, { method: 'GET', timeoutMs: call.timeouts.pollMs, ...question });
  if (isSuccess(reply)) return read(bodyOf(reply)) ?? noAnswer(call, reply, readError);
  return isGone(reply, readError) ? { kind: 'gone' } : noAnswer(call, reply, readError);
}

/** What is known when the reply says nothing about the job: nothing, and what the breaker makes of it. */
export function noAnswer(call: VendorCall, reply: VendorReply, readError: ReadError): Unanswered {
  const verdict = judge(reply, errorOf(reply, readError), { awaits: 'answer', key: call.key });
  if (verdict.kind === 'not_sent')
    return { kind: 'unanswered', breaker: { kind: 'none' }, message: 'This process stops.' };
  return { kind: 'unanswered', breaker: verdict.breaker, message: verdict.message };
}

type Unanswered = { readonly kind: 'unanswered'; readonly breaker: BreakerEffect; readonly message: string };

/** Cancels where the same call would delete what is finished: looks first. */
export async function cancelUnfinished<Made>(
  call: VendorCall,
  progress: JobProgress<Made>,
  question: Omit<Question, 'timeoutMs'>,
  readError: ReadError,
): Promise<JobCancellation> {
  if (progress.kind === 'cancelled') return { kind: 'stopped', bill: progress.bill };
  if (progress.kind === 'unanswered') return progress;
  const isLive = progress.kind === 'queued' || progress.kind === 'running';
  return isLive ? cancelJob(call, question, readError) : { kind: 'impossible' };
}

/** Cancels; a success says that the job has stopped unbilled, unless `read` knows better. */
export async function cancelJob(
  call: VendorCall,
  question: Omit<Question, 'timeoutMs'>,
  readError: ReadError,
  read: (status: number, body: unknown) => JobCancellation = () => ({ kind: 'stopped', bill: 'nothing' }),
): Promise<JobCancellation> {
  const reply = await ask(call, { timeoutMs: call.timeouts.pollMs, ...question });
  if (reply.kind === 'answered' && isSuccess(reply)) return read(reply.status, reply.body);
  return refusesState(reply, readError) ? { kind: 'impossible' } : noAnswer(call, reply, readError);
}

/** Whether the vendor refuses because of the job or the way, not because of us or of now; a proxy's page says nothing. */
function refusesState(reply: VendorReply, readError: ReadError): boolean {
  if (reply.kind !== 'answered' || ![400, 404, 405, 409, 410, 422].includes(reply.status)) return false;
  const means = readError(reply.body, reply.status)?.means ?? null;
  return reply.body !== undefined && (means === null || means === 'invalid');
}

/** Asks the vendor to remove its copy. @returns whether it is gone. */
export async function removeCopy(
  call: VendorCall,
  question: Pick<Question, 'url' | 'credentials'>,
  readError: ReadError,
): Promise<boolean> {
  const reply = await ask(call, { method: 'DELETE', timeoutMs: call.timeouts.pollMs, ...question });
  return isSuccess(reply) || isGone(reply, readError);
}

/** The end of a job that failed, in the vendor's words where they concern the caller. */
export function failedJob(
  call: VendorCall,
  { said, means }: VendorError,
  bill: 'nothing' | 'quote' = 'nothing',
): Extract<JobProgress<unknown>, { kind: 'failed' }> {
  const vendorSaid = plain(said, call.key);
  const code = means === 'content' ? 'CONTENT_REFUSED' : 'VENDOR_ERROR';
  const what = means === 'content' ? 'The vendor refused the content' : 'The vendor could not make it';
  const isCallers = means === null || means === 'content' || means === 'invalid';
  return {
    kind: 'failed',
    code,
    message: isCallers && vendorSaid ? `${what}: ${vendorSaid}` : `${what}.`,
    vendorSaid,
    bill,
  };
}

export function isSuccess(reply: VendorReply): boolean {
  return reply.kind === 'answered' && reply.status >= 200 && reply.status < 300;
}

/** The answer's JSON; undefined when there is none. */
export function bodyOf(reply: VendorReply): unknown {
  return reply.kind === 'answered' ? reply.body : undefined;
}

/** A 404 without the vendor's body is a proxy's, and says nothing about the job. */
function isGone(reply: VendorReply, readError: ReadError): boolean {
  if (reply.kind !== 'answered' || (reply.status !== 404 && reply.status !== 410)) return false;
  return readError(reply.body, reply.status) !== null;
}

function errorOf(reply: VendorReply, readError: ReadError): VendorError | null {
  return reply.kind === 'answered' ? readError(reply.body, reply.status) : null;
}

export function bearer(call: VendorCall): Record<string, string> {
  return call.key === null ? {} : { authorization: `Bearer ${call.key}` };
}

export function dataUrl({ bytes, contentType }: { readonly bytes: Uint8Array; readonly contentType: string }): string {
  return `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** The vendor's id of a job; null for what could not stand in a path. */
export function referenceAt(body: unknown, path: string): string | null {
  const id = textAt(body, path, REFERENCE_CHARACTERS_MAX);
  return id === null || id === '.' || id === '..' || !id.isWellFormed() ? null : id;
}
