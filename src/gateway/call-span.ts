// The span of a call, if tracing is on: a child of the calling call's span, else of the caller's own. It records the capability and the caller,
// never a path, a query or a body.
import type { Span, Tracing } from '../core/tracing/tracing.ts';
import type { Problem } from '../problems/problem.ts';
import type { Sender } from './active-request.ts';
import type { Endpoint } from './endpoint.ts';
import { callerSpan } from './trace-context.ts';

/** A span within its trace. */
export function beginCallSpan(tracing: Tracing, traceId: string, sender: Sender | null): Span {
  const parent = tracing.current ?? callerSpan(sender?.traceparent);
  return tracing.begin(parent?.traceId === traceId ? parent : { traceId });
}

/** What of a call its span tells; null: it is not known who called. */
interface EndedCall {
  readonly accountId: string | null;
  readonly requestId: string;
  readonly entryForm: string;
  readonly depth: number;
  readonly sender: Sender | null;
  readonly endpoint: Pick<Endpoint, 'capability'>;
  readonly failure: Problem | null;
}

/** `name`: under which the call counts in metrics. Attributes by OpenTelemetry's conventions of HTTP servers. */
export function endCallSpan(span: Span, call: EndedCall, status: number, name: string): void {
  const { sender, depth, failure } = call;
  const { id, method, path } = call.endpoint.capability;
  const isRoute = depth === 0 && sender !== null && name === id && call.entryForm === 'rest';
  span.end({
    name: isRoute ? `${method} ${path}` : name,
    kind: depth === 0 && sender !== null ? 'server' : 'internal',
    isError: status >= 500,
    attributes: {
      'http.request.method': depth === 0 ? (sender?.method ?? null) : null,
      'http.route': isRoute ? path : null,
      'http.response.status_code': status,
      'error.type': status >= 500 ? (failure?.code ?? String(status)) : null,
      'qm.capability': id,
      'qm.request_id': call.requestId,
      'qm.account_id': call.accountId,
      'qm.entry_form': call.entryForm,
      'qm.code': status >= 400 ? (failure?.code ?? null) : null,
    },
  });
}
