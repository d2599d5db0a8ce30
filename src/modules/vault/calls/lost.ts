// Ends calls whose process died: nobody knows what the target did, so they are charged, and nothing is sent again.
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { priceOf } from '../../../core/wallet/prices.ts';
import type { Services } from '../../../kit/services.ts';
import { CALL, LOST_CALLS } from '../limits.ts';
import { endCall, LOST_ANSWER } from './end.ts';
import { callDue, findOpenCall } from './store.ts';

const PLACES = 8;

export function lostCallsLoop(core: Services): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: LOST_CALLS,
    places: PLACES,
    claim: (tx, accountId, wanted) => callDue.claim(tx, accountId, wanted),
    run: (job) => endLost(core, job),
    async putBack(tx, job, dueMs) {
      await callDue.setDue(tx, job, dueMs);
      await openTurn(tx, job.accountId, LOST_CALLS, dueMs);
    },
  });
}

async function endLost(core: Services, { accountId, id: callId }: LeasedJob): Promise<void> {
  const row = await findOpenCall(core.db, accountId, callId);
  if (row === null) return;
  const open = { accountId, callId, holdId: row.hold_id, nanos: priceOf(core.prices, CALL, 1n) };
  const unknown = { status: null, bytesIn: 0, bytesOut: 0, latencyMs: 0, code: 'LOST' };
  await endCall(core, open, { ...unknown, isCharged: true, answer: LOST_ANSWER });
}
