// One attempt of a run, and its outcome. An attempt that died with its process is repeated under the same run id; one that failed is, as often as
// the job says. The lease is renewed meanwhile (core/background/due-work.ts), and `attempt` fences what is written.

import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import { hostOf } from '../../../core/outbound/long-calls.ts';
import { retryDelayMs } from '../../../core/outbound/retry-delay.ts';
import type { Services } from '../../../kit/services.ts';
import { type RunRow, runRecord } from '../jobs/records.ts';
import { APPROVAL_LOOK_MS, ATTEMPTS_MAX, NO_ROOM_MS, REPEAT_WITHIN_MS, workOf } from '../limits.ts';
import { callCapability } from './call.ts';
import { type ClaimedRun, runEvent } from './claim.ts';
import { notMade, type Outcome } from './outcome.ts';
import { postTask } from './post.ts';
import { postponeRun, saveLastRun, saveRetry, saveRunEnd, type TargetRow } from './store.ts';

/** Makes the attempt and records its outcome. Throws when `signal` or `lost` ended it: the run is then for another attempt. */
export async function makeRun(
  core: Services,
  claimed: ClaimedRun,
  signal: AbortSignal,
  lost: AbortSignal,
): Promise<void> {
  const { run, target } = claimed;
  if (target === null) return record(core, claimed, notMade('job_deleted'));
  if (run.attempt - run.failures > ATTEMPTS_MAX) return record(core, claimed, notMade('interrupted'));
  if (mayHavePaid(claimed)) return record(core, claimed, notMade('interrupted'));
  const ended = AbortSignal.any([signal, lost]);
  const outcome = await inItsPlace(core, claimed, target, () =>
    target.capability === null ? postTask(core, run, target, ended) : callCapability(core, run, target, ended),
  );
  if (outcome === 'no_room') return postpone(core, run, NO_ROOM_MS);
  if (outcome === 'waits') return waitForApproval(core, claimed);
  if (outcome === 'ended') throw new Error('the attempt was ended by this process');
  await record(core, claimed, outcome);
}

/** What an earlier attempt may have paid is not found again under its idempotency key, so it is not repeated. */
function mayHavePaid({ run, target, claimedMs }: ClaimedRun): boolean {
  return target?.capability != null && run.attempt > 1 && claimedMs - run.started_at > REPEAT_WITHIN_MS;
}

/** Long ones count among the long calls of the account, and of the host. */
async function inItsPlace(
  { longCalls }: Services,
  { run: { account_id: accountId }, tier }: ClaimedRun,
  { capability, task_url: url, payload }: TargetRow,
  attempt: () => Promise<Outcome>,
): Promise<Outcome | 'no_room'> {
  if (tier === null) return attempt();
  const caller = { accountId, tier, host: capability === null ? hostOf(url) : null };
  if (longCalls.reserve(caller, 1) === 0) return 'no_room';
  try {
    return await longCalls.during(accountId, payload?.length ?? 0, attempt);
  } finally {
    longCalls.release(caller, 1);
  }
}

/** The run is tried again until a person has decided, as long as its idempotency key is known to be new. */
function waitForApproval(core: Services, claimed: ClaimedRun): Promise<void> {
  const { run, claimedMs } = claimed;
  if (claimedMs - run.started_at < REPEAT_WITHIN_MS - APPROVAL_LOOK_MS) return postpone(core, run, APPROVAL_LOOK_MS);
  return record(core, claimed, notMade('APPROVAL_REQUIRED'));
}

function postpone(core: Services, run: RunRow, forMs: number): Promise<void> {
  return core.db.transaction(async (tx) => {
    const dueMs = (await clockNow(tx)) + forMs;
    await postponeRun(tx, run, dueMs);
    await openTurn(tx, run.account_id, workOf(run.timeout_seconds), dueMs, { later: true });
  }, run.account_id);
}

/** Records the end and tells it, or when the run is tried again, unless another attempt has taken the run over. */
function record(core: Services, { run, target }: ClaimedRun, outcome: Exclude<Outcome, string>): Promise<void> {
  const { end, retry } = outcome;
  return core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    if (retry !== null && run.failures < run.retries) {
      const dueMs = nowMs + retryDelayMs(run.failures + 1, retry.afterMs);
      if ((await saveRetry(tx, run, end, dueMs)) === null) return;
      await openTurn(tx, run.account_id, workOf(run.timeout_seconds), dueMs, { later: true });
      return;
    }
    const ended = await saveRunEnd(tx, run, end, nowMs);
    if (ended === null) return;
    const type = end.status === 'succeeded' ? 'cron.executed' : 'cron.failed';
    sendEvents(tx, [runEvent(ended, target?.name ?? null, type)], nowMs);
    await saveLastRun(tx, ended, JSON.stringify(runRecord(ended)), nowMs);
  }, run.account_id);
}
