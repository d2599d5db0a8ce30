// Asking the vendors of a job's chain to work on it, one after the other. What is sent has been written before, and what a vendor accepts is
// written before anything else; the walk goes on only while it is certain that nobody works on the job.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptAttempt,
  beginAttempt,
  loseAttempt,
  refuseAttempt,
  vendorCallOf,
} from '../../../core/vendors/attempts.ts';
import { type Candidate, nextStep, type Outcome } from '../../../core/vendors/failover.ts';
import type { CallOutcome } from '../../../core/vendors/health.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import type { FailoverReason } from '../../../vendors/call/port.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { endJob } from '../jobs/end.ts';
import { chainOf, type Link, wantedOf } from '../jobs/row.ts';
import { NO_VENDOR_MS } from '../limits.ts';
import type { VideoAdapter, VideoSubmission } from '../vendors/port.ts';
import { type Material, materialOf, parentAt, requestOf, workFor } from './material.ts';
import { firstPauseMs } from './pace.ts';
import { SEEK_EVERY_MS } from './seek.ts';
import { stepAsks, stepOver } from './steps.ts';
import { type VendorStep, workOf } from './vendor-step.ts';

const ROUND_PAUSE_MS = 10_000;
const ROUND_PAUSE_MS_MAX = 60_000;
/** The database may be away for a moment just when a vendor has accepted. */
const SAVE_TRIES = 5;
const SAVE_PAUSE_MS = 1_000;

/** Another process has the job, or it has ended: this step writes no more. */
class StepLost extends Error {}

export async function submitJob(vendorStep: VendorStep): Promise<void> {
  const { state, step, job, signal } = vendorStep;
  step.doing = { what: 'asking a vendor', pct: null };
  try {
    const material = await materialOf(state, job, signal);
    await walk(vendorStep, material);
  } catch (error) {
    if (error instanceof Problem) await endJob(state, job, { state: 'failed', problem: error });
    else if (!(error instanceof StepLost)) throw error;
  }
}

async function walk(vendorStep: VendorStep, material: Material): Promise<void> {
  const { state, step, job } = vendorStep;
  const [first, ...others] = chainOf(job).map(candidateOf) as [Walked, ...Walked[]];
  const chain = [first, ...others] as const;
  const outcomes: Outcome[] = [];
  for (;;) {
    const next = nextStep([...chain], outcomes);
    switch (next.kind) {
      case 'try': {
        const left = (outcomes[0] as { reason?: FailoverReason } | undefined)?.reason ?? null;
        outcomes.push(await askVendor(vendorStep, material, next.position, next.candidate.link, left));
        break;
      }
      case 'accepted': {
        const { model } = next.candidate;
        const expectedMs = state.times.expectedMs(`${next.candidate.vendor}/${model}`, wantedOf(job).seconds);
        const dueMs = vendorStep.nowMs() + firstPauseMs(expectedMs);
        await stepOver(state.core.db, step, job, { dueMs, what: 'accepted by the vendor' });
        return;
      }
      case 'unknown':
        await stepOver(state.core.db, step, job, {
          dueMs: vendorStep.nowMs() + SEEK_EVERY_MS,
          what: 'waiting for word of the vendor',
        });
        return;
      case 'failed':
        await nobody(vendorStep, next);
        return;
    }
  }
}

type Walked = Candidate & { readonly link: Link };

function candidateOf(link: Link): Walked {
  return { vendor: link.vendor, model: link.model, quoteNanos: BigInt(link.quoteNanos), link };
}

const LEAVES: ReadonlySet<string> = new Set([
  'VENDOR_TIMEOUT',
  'VENDOR_DOWN',
  'RATE_LIMIT_VENDOR',
  'VENDOR_AUTH_ERROR',
]);

/** Nobody took it. When that may change, all are asked again in a while. */
async function nobody(
  vendorStep: VendorStep,
  failed: { readonly code: Problem['code'] | string; readonly message: string; readonly retryAfterMs?: number },
): Promise<void> {
  const { state, step, job } = vendorStep;
  const nowMs = vendorStep.nowMs();
  const endMs = Math.min(job.created_at + NO_VENDOR_MS, job.deadline_at);
  if (LEAVES.has(failed.code) && nowMs < endMs) {
    const pauseMs = Math.min(failed.retryAfterMs ?? ROUND_PAUSE_MS, ROUND_PAUSE_MS_MAX);
    await stepOver(state.core.db, step, job, { dueMs: Math.min(nowMs + pauseMs, endMs), what: 'waiting for a vendor' });
    return;
  }
  const { code, message, retryAfterMs } = failed;
  const options = { message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  await endJob(state, job, { state: 'failed', problem: problem(code as 'VENDOR_DOWN', options) });
}

async function askVendor(
  vendorStep: VendorStep,
  material: Material,
  position: number,
  link: Link,
  leftReason: FailoverReason | null,
): Promise<Outcome> {
  const { state, job } = vendorStep;
  const row = state.core.vendors.row(link.vendor, link.model);
  if (row === undefined || row.vendor.disabled !== null)
    return { kind: 'refused', reason: 'VENDOR_DOWN', message: `${link.vendor} takes no work at present.` };
  const entry = await state.core.vendors.enter(row.vendor, `video.${job.operation}`);
  if (entry.kind === 'pass') {
    const { reason, retryAfterMs } = entry;
    return { kind: 'refused', reason, message: `${link.vendor} is not asked at present.`, retryAfterMs };
  }
  let outcome = notSent;
  try {
    const { attemptId, submission } = await send(vendorStep, material, position, link, leftReason, row);
    outcome = callOutcome(submission);
    return await keepAnswer(vendorStep, attemptId, submission);
  } finally {
    entry.ended(outcome);
  }
}

/** Writes the intent, then sends. */
async function send(
  { state, step, job, signal, nowMs }: VendorStep,
  material: Material,
  position: number,
  link: Link,
  leftReason: FailoverReason | null,
  row: ModelRow,
): Promise<{ attemptId: string; submission: VideoSubmission }> {
  const { core } = state;
  const adapter = core.vendors.adapter<VideoAdapter>('video', row.vendor.adapter);
  const { image, parent: made } = material;
  const parent = made === null ? null : await parentAt(state, made, link.vendor, nowMs());
  const begun = await core.db.transaction(async (tx) => {
    if (!(await stepAsks(tx, step, position, link, leftReason))) throw new StepLost();
    return beginAttempt(tx, core.secrets, {
      accountId: job.account_id,
      work: workOf(job),
      capability: `video.${job.operation}`,
      row,
      quoteNanos: BigInt(link.quoteNanos),
      request: requestOf(job, row),
    });
  });
  const { baseUrl, key, assetHosts } = row.vendor;
  const told = { base_url: baseUrl, key_name: key?.name ?? null, asset_hosts: [...assetHosts] };
  const call = vendorCallOf(core, { ...told, timeouts: JSON.stringify(row.timeouts) }, signal);
  const submission = await adapter.submit(call, workFor(state, job, row, { image, parent }, begun.token));
  return { attemptId: begun.attemptId, submission };
}

/** What becomes of the attempt. */
async function keepAnswer(vendorStep: VendorStep, attemptId: string, submission: VideoSubmission): Promise<Outcome> {
  const { core } = vendorStep.state;
  const { account_id: accountId, job_id: jobId } = vendorStep.job;
  if (submission.kind === 'accepted') {
    await save(() => acceptAttempt(core.db, accountId, attemptId, submission.job));
    return { kind: 'accepted' };
  }
  if (submission.kind === 'not_sent') {
    await refuseAttempt(core.db, accountId, attemptId, 'not_sent', vendorStep.nowMs());
    vendorStep.signal.throwIfAborted();
    throw new Error('a vendor was not asked, though the process does not stop');
  }
  // Not the vendor's words: they quote prompts.
  const reason = submission.kind === 'refused' ? submission.reason : null;
  core.log.info({ jobId, attemptId, outcome: submission.kind, reason }, 'a vendor has not accepted a video');
  if (submission.kind === 'unknown') {
    await save(() => loseAttempt(core.db, accountId, attemptId));
    return { kind: 'unknown' };
  }
  const { breaker, message } = submission;
  await save(() => refuseAttempt(core.db, accountId, attemptId, submission.reason, vendorStep.nowMs()));
  return {
    kind: 'refused',
    reason: submission.reason,
    message,
    ...(breaker.kind === 'waits' ? { retryAfterMs: breaker.ms } : {}),
  };
}

async function save(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (tries === SAVE_TRIES) throw error;
      await sleep(SAVE_PAUSE_MS);
    }
  }
}

const notSent: CallOutcome = { breaker: { kind: 'none' }, reason: null, isUnknown: true, told: 'not_sent' };

function callOutcome(submission: VideoSubmission): CallOutcome {
  switch (submission.kind) {
    case 'accepted':
      return { breaker: { kind: 'none' }, reason: null, keeps: true };
    case 'not_sent':
      return notSent;
    case 'unknown':
      return { breaker: submission.breaker, reason: 'VENDOR_TIMEOUT', keeps: true };
    case 'refused': {
      const { breaker, reason } = submission;
      return { breaker, reason: LEAVES.has(reason) ? (reason as FailoverReason) : null, told: reason };
    }
  }
}
