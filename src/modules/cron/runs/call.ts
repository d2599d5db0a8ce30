// An attempt at a capability, as the key of the job is now. The run's id is its idempotency key: attempts after a crash, and retries, find what an
// earlier one has done and pay nothing more.
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MARGIN_SECONDS } from '../../../core/outbound/long-calls.ts';
import type { MadeCall } from '../../../core/own-calls.ts';
import type { Services } from '../../../kit/services.ts';
import { toJson } from '../../../lib/json-text.ts';
import { MODE, scrubText } from '../../../lib/scrub/text.ts';
import { isDisconnected } from '../../../problems/disconnected.ts';
import type { RunRow } from '../jobs/records.ts';
import { inputOf } from '../jobs/target.ts';
import type { Outcome } from './outcome.ts';
import type { TargetRow } from './store.ts';

const SNIPPET_BYTES_MAX = 1_024;
const OK = 200;

export async function callCapability(
  { calls, keys }: Services,
  run: RunRow,
  { capability, queue, run_as, payload }: TargetRow,
  ended: AbortSignal,
): Promise<Outcome> {
  const startedMs = performance.now();
  const timedOut = AbortSignal.timeout(run.timeout_seconds * 1_000);
  const call = {
    capability: capability as string,
    input: inputOf({ queue, payload: payload ?? '{}' }),
    idempotencyKey: `run ${run.run_id}`,
  };
  const making = calls.makeAs(
    keys,
    { accountId: run.account_id, keyId: run_as as string },
    call,
    AbortSignal.any([ended, timedOut]),
  );
  const made = await outcomeOf(making, timedOut, ended);
  const latencyMs = Math.round(performance.now() - startedMs);
  if (made === null || (made.problem !== null && isDisconnected(made.problem))) {
    if (ended.aborted) return 'ended';
    const end = {
      status: 'failed',
      httpStatus: null,
      errorCode: 'timeout',
      latencyMs,
      snippet: null,
      costNanos: 0n,
    } as const;
    return { end, retry: { afterMs: null } };
  }
  const { problem: failure, costNanos } = made;
  if (failure?.code === 'APPROVAL_REQUIRED') return 'waits';
  if (failure === null) {
    const snippet = snippetOf(toJson(made.data));
    return {
      end: { status: 'succeeded', httpStatus: OK, errorCode: null, latencyMs, snippet, costNanos },
      retry: null,
    };
  }
  const { httpStatus, code } = failure;
  return {
    end: { status: 'failed', httpStatus, errorCode: code, latencyMs, snippet: snippetOf(failure.message), costNanos },
    retry: failure.retryable ? { afterMs: failure.retryAfterMs ?? null } : null,
  };
}

/**
 * The call's outcome; null at once when this process lets go of the run, and when the call has not ended some seconds after its time was up. It may go on,
 * and what it does is found by the next attempt.
 */
async function outcomeOf(
  making: Promise<MadeCall>,
  timedOut: AbortSignal,
  ended: AbortSignal,
): Promise<MadeCall | null> {
  const over = new AbortController();
  const late = async () => {
    await untilAborted(timedOut, over.signal);
    await sleep(LEASE_MARGIN_SECONDS * 1_000, undefined, { signal: over.signal }).catch(() => undefined);
  };
  try {
    return await Promise.race([making, late().then(() => null), untilAborted(ended, over.signal).then(() => null)]);
  } finally {
    over.abort();
    making.catch(() => undefined);
  }
}

function untilAborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { signal: over });
  over.addEventListener('abort', () => resolve());
  return promise;
}

function snippetOf(text: string): string {
  const start = Buffer.from(text.replaceAll('\0', '\ufffd').toWellFormed(), 'utf8').subarray(0, SNIPPET_BYTES_MAX);
  return scrubText(new TextDecoder().decode(start, { stream: true }), MODE.usual);
}
