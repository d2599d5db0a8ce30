// Searches for an attempt at the vendor after its answer was lost.

import { type AttemptRow, acceptAttempt, loseAttempt } from '../../routing/attempts.ts';
import type { SentRequest, VendorStep } from '../kind.ts';
import { adapterOf, callOf } from './vendor-step.ts';

/** Looks for an attempt whose outcome is not known. True: the vendor has it, and that is written. */
export async function seek({ host, job, signal }: VendorStep, attempt: AttemptRow): Promise<boolean> {
  const { core } = host;
  // Whoever sent it has died, or has no word either.
  if (attempt.state === 'sending') await loseAttempt(core.db, job.account_id, attempt.attempt_id);
  const adapter = adapterOf(host, attempt);
  const call = callOf(core, attempt, signal);
  if (adapter.find === undefined || call === null) return false;
  const { options } = JSON.parse(attempt.request) as SentRequest;
  const search = await adapter.find(call, attempt.token, options);
  if (search.kind !== 'found') return false;
  await acceptAttempt(core.db, job.account_id, attempt.attempt_id, search.job);
  return true;
}
