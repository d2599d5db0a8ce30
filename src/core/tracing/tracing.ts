// Interface of OpenTelemetry tracing as the service uses it: an operation is a span, and the operations it causes are its children. Without an
// endpoint there is no Tracing, and no implementation is loaded (service/tracing.ts).
import type { Metric } from '../process/metric.ts';

/** Null: the span does not have it. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

/** What another service has to know of a span to continue its trace (W3C Trace Context). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

export interface Span extends SpanContext {
  /** The header of that name. */
  readonly traceparent: string;
  /** Ends the span; later calls do nothing. */
  end(end: SpanEnd): void;
}

/** `server`: a request from outside; `client`: one to the outside. */
export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanEnd {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

/** Of what has ended already, by performance.now(). */
export interface PastSpan extends SpanEnd {
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface Tracing {
  /** The span in which the running code was begun. Null: there is none, or it has ended. */
  readonly current: Span | null;
  /** A span that begins now. `parent`: of its trace only the id may be known; null: a trace of its own. */
  begin(parent: SpanContext | Pick<SpanContext, 'traceId'> | null): Span;
  /** Runs `work`, and all that it begins, in the span. */
  within<Result>(span: Span, work: () => Result): Result;
  /** A child of `parent` that has ended already. */
  add(parent: Span, past: PastSpan): void;
  metrics(): readonly Metric[];
  /** Sends what waits, for at most two seconds. */
  stop(): Promise<void>;
}
