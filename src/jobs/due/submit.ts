// Submits a job to the vendors of its chain, one after the other. A request is stored before it is sent, and an acceptance is stored before
// anything else. The next vendor is tried only while it is certain that none works on the job.

import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, problem } from '../../problems/problem.ts';
import { acceptAttempt, beginAttempt, loseAttempt, refuseAttempt, vendorCallOf } from '../../routing/attempts.ts';
import { type Candidate, nextStep, type Outcome } from '../../routing/failover.ts';
import type { CallOutcome } from '../../routing/health.ts';
import type { JobSubmission } from '../../vendors/call/job.ts';
import type { FailoverReason } from '../../vendors/call/port.ts';
import type { ModelRow } from '../../vendors/file/port.ts';
import { endJob } from '../end.ts';
import type { VendorStep } from '../kind.ts';
import { NO_VENDOR_MS } from '../limits.ts';
import { chainOf, type Link } from '../row.ts';
import { workOf } from '../shape.ts';
import { firstPauseMs } from './pace.ts';
import { SEEK_EVERY_MS } from './seek.ts';
import { adapterOf } from './vendor-step.ts';

const ROUND_PAUSE_MS = 10_000;
const ROUND_PAUSE_MS_MAX = 60_000;
/** The database may be away for a moment just when a vendor has accepted. */
const SAVE_TRIES = 5;
const SAVE_PAUSE_MS = 1_000;

/** Another process has the job, or it has ended: this step writes no more. */
class StepLost extends Error {}

export async function submitJob(vendorStep: VendorStep): Promise<void> {
  const { host, step, job, signal } = vendorStep;
  step.doing = { what: 'asking a vendor', pct: null };
  try {
    const material = await host.vendorWork.material(job, signal);
    await walk(vendorStep, material);
  } catch (error) {
    if (error instanceof Problem) await endJob(host, job, { state: 'failed', problem: error });
    else if (!(error instanceof StepLost)) throw error;
  }
}

async function walk(vendorStep: VendorStep, material: unknown): Promise<void> {
  const { host, step, job } = vendorStep;
  const { steps } = host.kind.tables;
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
        const expectedMs = host.times.expectedMs(`${next.candidate.vendor}/${model}`, host.kind.unitsOf(job));
        const dueMs = vendorStep.nowMs() + firstPauseMs(expectedMs);
        await steps.over(host.core.db, step, job, { dueMs, what: 'accepted by the vendor' });
        return;
      }
      case 'unknown':
        await steps.over(host.core.db, step, job, {
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
  const { host, step, job } = vendorStep;
  const nowMs = vendorStep.nowMs();
  const endMs = Math.min(job.created_at + NO_VENDOR_MS, job.deadline_at);
  if (LEAVES.has(failed.code) && nowMs < endMs) {
    const pauseMs = Math.min(failed.retryAfterMs ?? ROUND_PAUSE_MS, ROUND_PAUSE_MS_MAX);
    const next = { dueMs: Math.min(nowMs + pauseMs, endMs), what: 'waiting for a vendor' };
    await host.kind.tables.steps.over(host.core.db, step, job, next);
    return;
  }
  const { code, message, retryAfterMs } = failed;
  const options = { message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  await endJob(host, job, { state: 'failed', problem: problem(code as 'VENDOR_DOWN', options) });
}

async function askVendor(
  vendorStep: VendorStep,
  material: unknown,
  position: number,
  link: Link,
  leftReason: FailoverReason | null,
): Promise<Outcome> {
  const { host, job } = vendorStep;
  const { vendors } = host.core;
  const row = vendors.row(link.vendor, link.model);
  if (row === undefined || row.vendor.disabled !== null)
    return { kind: 'refused', reason: 'VENDOR_DOWN', message: `${link.vendor} takes no work at present.` };
  const entry = await vendors.enter(row.vendor, `${host.kind.tables.shape.name}.${job.operation}`);
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
    entry.reportOutcome(outcome);
  }
}

/** Writes the intent, then sends. */
async function send(
  { host, step, job, signal, nowMs }: VendorStep,
  material: unknown,
  position: number,
  link: Link,
  leftReason: FailoverReason | null,
  row: ModelRow,
): Promise<{ attemptId: string; submission: JobSubmission }> {
  const { core, vendorWork } = host;
  const { shape, steps } = host.kind.tables;
  const adapter = adapterOf(host, row.vendor);
  const workWith = await vendorWork.workFor(job, row, material, { vendor: link.vendor, nowMs: nowMs() });
  const begun = await core.db.transaction(async (tx) => {
    if (!(await steps.asks(tx, step, position, link, leftReason))) throw new StepLost();
    return beginAttempt(tx, core.secrets, {
      accountId: job.account_id,
      work: workOf(shape, job),
      capability: `${shape.name}.${job.operation}`,
      row,
      quoteNanos: BigInt(link.quoteNanos),
      request: vendorWork.requestOf(job, row),
    });
  }, job.account_id);
  const { baseUrl, key, assetHosts } = row.vendor;
  const told = { base_url: baseUrl, key_name: key?.name ?? null, asset_hosts: [...assetHosts] };
  const call = vendorCallOf(core, { ...told, timeouts: JSON.stringify(row.timeouts) }, signal);
  const submission = await adapter.submit(call, workWith(begun.token));
  return { attemptId: begun.attemptId, submission };
}

/** What becomes of the attempt. */
async function keepAnswer(vendorStep: VendorStep, attemptId: string, submission: JobSubmission): Promise<Outcome> {
  const { core, vendorWork } = vendorStep.host;
  const { account_id: accountId, job_id: jobId } = vendorStep.job;
  if (submission.kind === 'accepted') {
    await save(() => acceptAttempt(core.db, accountId, attemptId, submission.job));
    if (submission.paths !== undefined) await vendorWork.keepAnswer?.(vendorStep.job, attemptId, submission.paths);
    return { kind: 'accepted' };
  }
  if (submission.kind === 'not_sent') {
    await refuseAttempt(core.db, accountId, attemptId, 'not_sent', vendorStep.nowMs());
    vendorStep.signal.throwIfAborted();
    throw new Error('a vendor was not asked, though the process does not stop');
  }
  // Not the vendor's words: they quote prompts.
  const reason = submission.kind === 'refused' ? submission.reason : null;
  core.log.info({ jobId, attemptId, outcome: submission.kind, reason }, 'a vendor has not accepted a job');
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

function callOutcome(submission: JobSubmission): CallOutcome {
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
