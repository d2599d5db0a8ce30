// An attempt at a URL: a signed POST.
import { signedHeaders } from '../../../core/outbound/signature.ts';
import type { Services } from '../../../kit/services.ts';
import { retryAfterMs } from '../../../lib/retry-after.ts';
import { MODE, scrubText } from '../../../lib/scrub/text.ts';
import { iso } from '../../../lib/time.ts';
import { openHeaders, openSecret, type RunRow } from '../jobs/records.ts';
import type { Outcome } from './outcome.ts';
import type { TargetRow } from './store.ts';

export async function postTask(
  { secrets, outbound }: Services,
  run: RunRow,
  target: TargetRow,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = bodyText(run, target);
  const previous = (target.previous_secret_until ?? 0) > run.started_at ? target.previous_secret : null;
  const signing = [target.secret, previous].filter((sealed) => sealed !== null);
  const signed = signedHeaders(
    { id: run.run_id, timestampMs: Date.now(), body },
    signing.map((sealed) => openSecret(secrets, run.job_id, sealed)),
  );
  const headers = { ...openHeaders(secrets, { job_id: run.job_id, headers: target.headers }), ...signed };
  const timeoutMs = run.timeout_seconds * 1_000;
  const outcome = await outbound.post({ url: target.task_url, headers, body, signal, timeoutMs });
  const latencyMs = Math.round(outcome.latencyMs);
  if (outcome.kind === 'failed') {
    const { code } = outcome;
    if (code === 'aborted') return 'ended';
    const end = {
      status: 'failed',
      httpStatus: null,
      errorCode: code,
      latencyMs,
      snippet: null,
      costNanos: 0n,
    } as const;
    return { end, retry: code === 'refused' ? null : { afterMs: null } };
  }
  const { status: httpStatus } = outcome;
  const isSuccess = httpStatus >= 200 && httpStatus < 300;
  const status = isSuccess ? 'succeeded' : 'failed';
  const snippet = scrubText(outcome.snippet, MODE.usual);
  const end = { status, httpStatus, errorCode: null, latencyMs, snippet, costNanos: 0n } as const;
  return { end, retry: isSuccess ? null : { afterMs: retryAfterMs(outcome.retryAfter, Date.now()) } };
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
