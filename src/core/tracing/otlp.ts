// OTLP JSON encoding of spans (opentelemetry-proto, trace/v1/trace.proto; opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding").
import type { Attributes, SpanEnd, SpanKind } from './tracing.ts';

export interface EndedSpan extends SpanEnd {
  readonly traceId: string;
  readonly spanId: string;
  /** Null: it begins its trace. */
  readonly parentSpanId: string | null;
  readonly startUnixMs: number;
  readonly endUnixMs: number;
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

/** The body of a request with the spans; `resource`: what they say of the service as a whole. */
export function exportRequest(resource: Attributes, spans: readonly EndedSpan[]): string {
  const scopeSpans = [{ scope: { name: 'quartermaster' }, spans: spans.map(spanJson) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }] });
}

function spanJson({ traceId, spanId, parentSpanId, ...span }: EndedSpan): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanos(span.startUnixMs),
    endTimeUnixNano: nanos(span.endUnixMs),
    attributes: attributesJson(span.attributes),
    status: span.isError ? { code: STATUS_ERROR } : {},
  };
}

function attributesJson(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: valueJson(value) }],
  );
}

function valueJson(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Exact to the microsecond, which a number still holds. */
function nanos(unixMs: number): string {
  return `${Math.round(unixMs * 1000)}000`;
}
