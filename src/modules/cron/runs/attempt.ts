// One attempt of a run: a signed POST to the task, and its outcome. An attempt that died with its process is repeated under the same run id. A
// task that answered, or could not be reached, is not retried: its next slot comes.

import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import { signedHeaders } from '../../../core/outbound/signature.ts';
import type { Services } from '../../../kit/services.ts';
import { MODE, scrubText } from '../../../lib/scrub/text.ts';
import { iso } from '../../../lib/time.ts';
import type { OutboundOutcome } from '../../../vendors/http/port.ts';
import { openHeaders, openSecret, type RunRow, runRecord } from '../jobs/records.ts';
import { ATTEMPTS_MAX } from '../limits.ts';
import { type ClaimedRun, runEvent } from './claim.ts';
import { type RunEnd, saveLastRun, saveRunEnd, type TargetRow } from './store.ts';

/** Makes the attempt and records its end. Throws when `signal` ended it: the run is then for another process. */
export async function makeRun(core: Services, { run, target }: ClaimedRun, signal: AbortSignal): Promise<void> {
  if (target === null) return endRun(core, run, notMade('job_deleted'));
  if (run.attempt > ATTEMPTS_MAX) return endRun(core, run, notMade('interrupted'));
  const outcome = await post(core, run, target, signal);
  if (outcome.kind === 'failed' && outcome.code === 'aborted') throw new Error('the attempt was ended by this process');
  await endRun(core, run, endOf(outcome));
}

function post(core: Services, run: RunRow, target: TargetRow, signal: AbortSignal): Promise<OutboundOutcome> {
  const { secrets, outbound } = core;
  const body = bodyText(run, target);
  const nowMs = Date.now();
  const previous = (target.previous_secret_until ?? 0) > run.started_at ? target.previous_secret : null;
  const signing = [target.secret, previous].filter((sealed) => sealed !== null);
  const signed = signedHeaders(
    { id: run.run_id, timestampMs: nowMs, body },
    signing.map((sealed) => openSecret(secrets, run.job_id, sealed)),
  );
  const own = openHeaders(secrets, { job_id: run.job_id, headers: target.headers });
  return outbound.post({ url: target.task_url, headers: { ...own, ...signed }, body, signal });
}

/** Built by hand: the payload goes out byte for byte. */
function bodyText(run: RunRow, target: TargetRow): string {
  const head = JSON.stringify({
    run_id: run.run_id,
    job_id: run.job_id,
    name: target.name,
    scheduled_at: iso(run.scheduled_at),
  });
  return `${head.slice(0, -1)},"payload":${target.payload ?? 'null'}}`;
}

function endOf(outcome: OutboundOutcome): RunEnd {
  const latencyMs = Math.round(outcome.latencyMs);
  if (outcome.kind === 'failed') {
    return { status: 'failed', httpStatus: null, errorCode: outcome.code, latencyMs, snippet: null };
  }
  const { status: httpStatus } = outcome;
  const snippet = scrubText(outcome.snippet, MODE.usual);
  const isSuccess = httpStatus >= 200 && httpStatus < 300;
  return { status: isSuccess ? 'succeeded' : 'failed', httpStatus, errorCode: null, latencyMs, snippet };
}

function notMade(errorCode: string): RunEnd {
  return { status: 'failed', httpStatus: null, errorCode, latencyMs: null, snippet: null };
}

/** Records the end, and tells it, unless another attempt has taken the run over. */
function endRun(core: Services, run: RunRow, end: RunEnd): Promise<void> {
  return core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const ended = await saveRunEnd(tx, run, end, nowMs);
    if (ended === null) return;
    sendEvents(tx, [runEvent(ended, end.status === 'succeeded' ? 'cron.executed' : 'cron.failed')], nowMs);
    await saveLastRun(tx, ended, JSON.stringify(runRecord(ended)), nowMs);
  });
}
