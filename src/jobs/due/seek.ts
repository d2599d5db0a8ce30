// A submission whose answer was lost. The vendor may be at work on it, so it is not sent elsewhere. The service searches for it if the vendor
// supports that; a callback with its token may also tell. After ten minutes the job fails.

import { problem } from '../../problems/problem.ts';
import type { AttemptRow } from '../../routing/attempts.ts';
import { endJob } from '../end.ts';
import type { VendorStep } from '../kind.ts';
import { UNKNOWN_OUTCOME_MS } from '../limits.ts';
import { LOOK_AFTER_MS } from './after-end.ts';
import { seek } from './seek-attempt.ts';

export const SEEK_EVERY_MS = 15_000;

export async function seekJob(vendorStep: VendorStep, attempt: AttemptRow): Promise<void> {
  const { host, step, job } = vendorStep;
  const { db } = host.core;
  const { steps } = host.kind.tables;
  if (await seek(vendorStep, attempt)) {
    await steps.over(db, step, job, {
      dueMs: vendorStep.nowMs(),
      atOnce: true,
      what: 'accepted by the vendor',
    });
    return;
  }
  const endMs = attempt.created_at + UNKNOWN_OUTCOME_MS;
  const nowMs = vendorStep.nowMs();
  if (nowMs < endMs) {
    const what = 'waiting for word of the vendor';
    await steps.over(db, step, job, { dueMs: Math.min(nowMs + SEEK_EVERY_MS, endMs), what });
    return;
  }
  const message = 'The vendor did not say whether it took the job. It was not sent again, and nothing is charged.';
  const failed = problem('VENDOR_TIMEOUT', { detail: 'outcome_unknown', message });
  await endJob(host, job, { state: 'failed', problem: failed }, { lookInMs: LOOK_AFTER_MS });
}
