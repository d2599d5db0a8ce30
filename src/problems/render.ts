// Renders a Problem as the error object of the specification ("Errors"). A 500 never shows the internal error.

import { usd } from '../lib/money.ts';
import { isoOrNull } from '../lib/time.ts';
import { sharedProblems } from './catalogue.ts';
import type { Problem, Shortfall, ShownApproval } from './problem.ts';

export interface ErrorObject {
  readonly code: string;
  readonly http_status: number;
  readonly message: string;
  readonly docs_url: string;
  readonly log_url?: string;
  readonly code_detail?: string;
  readonly retryable: boolean;
  readonly retry_after_ms?: number;
  readonly shortfall?: object;
  readonly approval?: ShownApproval;
  readonly param?: string;
  readonly did_you_mean?: string;
  readonly errors?: readonly unknown[];
  readonly trace_id: string;
  readonly request_id: string;
}

/** `readsLog`: the call stands in the request log, and whoever made it may read that. */
export function renderProblem(
  failure: Problem,
  ids: { requestId: string; traceId: string; readsLog?: boolean },
  baseUrl: string,
): ErrorObject {
  const hidden = failure.code === 'INTERNAL_ERROR';
  return {
    code: failure.code,
    http_status: failure.httpStatus,
    message: hidden ? sharedProblems.INTERNAL_ERROR.title : failure.message,
    docs_url: `${baseUrl}/docs/errors/${failure.code}`,
    ...(ids.readsLog === true ? { log_url: `${baseUrl}/console/requests/${ids.requestId}` } : {}),
    ...(failure.detail === undefined ? {} : { code_detail: failure.detail }),
    retryable: failure.retryable,
    ...(failure.retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(failure.retryAfterMs) }),
    ...(failure.shortfall === undefined ? {} : { shortfall: shortfallRecord(failure.shortfall) }),
    ...(failure.approval === undefined ? {} : { approval: failure.approval }),
    ...(failure.param === undefined ? {} : { param: failure.param }),
    ...(failure.didYouMean === undefined ? {} : { did_you_mean: failure.didYouMean }),
    ...(failure.errors === undefined || failure.errors.length < 2 ? {} : { errors: failure.errors }),
    trace_id: ids.traceId,
    request_id: ids.requestId,
  };
}

function shortfallRecord({ neededNanos, leftNanos, capNanos, windowEndMs, liftedBy }: Shortfall) {
  return {
    needed_usd: usd(neededNanos),
    left_usd: leftNanos === null ? null : usd(leftNanos),
    cap_usd: capNanos === null ? null : usd(capNanos),
    window_end: isoOrNull(windowEndMs),
    lifted_by: liftedBy,
  };
}
