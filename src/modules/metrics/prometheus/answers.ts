// Error answers in the form of Prometheus' API: {"status":"error","errorType","error"} (prometheus.io/docs/prometheus/latest/querying/api).
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { telemetrySentence, telemetryStatus } from '../../../kit/telemetry.ts';
import type { Problem } from '../../../problems/problem.ts';

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

export function refuseAsPrometheus(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { status, headers } = statusOf(failure);
  const error = `${failure.code}: ${telemetrySentence(failure)} (request ${requestId})`;
  return {
    status,
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ status: 'error', errorType: errorTypeOf(failure.code, status), error }),
  };
}

/** Sound PromQL that cannot be evaluated, or costs too much, is 422: bad_data is for what is no PromQL. */
function statusOf(failure: Problem): ReturnType<typeof telemetryStatus> {
  const isExecution = failure.detail === 'execution' || failure.detail === 'too_complex';
  return failure.code === 'VALIDATION_FAILED' && isExecution ? { status: 422, headers: {} } : telemetryStatus(failure);
}

function errorTypeOf(code: string, status: number): string {
  if (status === 422) return 'execution';
  if (code === 'UNSUPPORTED_QUERY' || status === 400) return 'bad_data';
  if (status === 503 || status === 429) return 'unavailable';
  if (status === 504) return 'timeout';
  return status === 404 ? 'not_found' : status >= 500 ? 'internal' : 'bad_data';
}

/** `data`: JSON. */
export function success(data: string, warnings: readonly string[] = []): RawAnswer {
  const told = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
  return { status: 200, headers: JSON_HEADERS, body: `{"status":"success","data":${data}${told}}` };
}
