// The tracer of this process: samples spans, tracks the current span, and passes sampled spans to the exporter when they end.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomHex } from '../../lib/random-hex.ts';
import type { Metric } from '../process/metric.ts';
import type { SpanExporter } from './exporter.ts';
import type { PastSpan, Span, SpanContext, SpanEnd, Tracing } from './tracing.ts';

export interface TracerOptions {
  readonly exporter: SpanExporter;
  /** Of the traces that begin here, from 0 to 1. */
  readonly ratio: number;
  /** A trace that the caller has begun is recorded as the caller says. */
  readonly followsCaller: boolean;
}

const SPAN_ID_BYTES = 8;
const TRACE_ID_BYTES = 16;
/** Of the trace id, those that are random by W3C Trace Context (level 2): its last 56 bits. */
const RANDOM_FROM_DIGIT = 18;
const RANDOM_VALUES = 2 ** 56;

export class Tracer implements Tracing {
  readonly #options: TracerOptions;
  readonly #running = new AsyncLocalStorage<LiveSpan>();

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  get current(): Span | null {
    const span = this.#running.getStore();
    return span === undefined || span.hasEnded ? null : span;
  }

  begin(parent: SpanContext | Pick<SpanContext, 'traceId'> | null): Span {
    const traceId = parent?.traceId ?? randomHex(TRACE_ID_BYTES);
    const of = parent !== null && 'spanId' in parent ? parent : null;
    return new LiveSpan(this.#options.exporter, traceId, of?.spanId ?? null, this.#isSampled(traceId, of));
  }

  within<Result>(span: Span, work: () => Result): Result {
    return this.#running.run(span as LiveSpan, work);
  }

  add({ traceId, spanId, isSampled }: Span, { startedMs, endedMs, ...end }: PastSpan): void {
    if (!isSampled) return;
    const ids = { traceId, spanId: randomHex(SPAN_ID_BYTES), parentSpanId: spanId };
    this.#options.exporter.add({ ...ids, ...end, ...wallTimes(startedMs, endedMs) });
  }

  metrics(): readonly Metric[] {
    return this.#options.exporter.metrics();
  }

  stop(): Promise<void> {
    return this.#options.exporter.stop();
  }

  #isSampled(traceId: string, parent: SpanContext | null): boolean {
    const { ratio, followsCaller } = this.#options;
    if (parent !== null && followsCaller) return parent.isSampled;
    return Number.parseInt(traceId.slice(RANDOM_FROM_DIGIT), 16) >= (1 - ratio) * RANDOM_VALUES;
  }
}

class LiveSpan implements Span {
  readonly traceId: string;
  readonly spanId = randomHex(SPAN_ID_BYTES);
  readonly isSampled: boolean;
  hasEnded = false;
  readonly #parentSpanId: string | null;
  readonly #startedMs = performance.now();
  readonly #exporter: SpanExporter;

  constructor(exporter: SpanExporter, traceId: string, parentSpanId: string | null, isSampled: boolean) {
    this.#exporter = exporter;
    this.traceId = traceId;
    this.#parentSpanId = parentSpanId;
    this.isSampled = isSampled;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-${this.isSampled ? '01' : '00'}`;
  }

  end(end: SpanEnd): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (!this.isSampled) return;
    const ids = { traceId: this.traceId, spanId: this.spanId, parentSpanId: this.#parentSpanId };
    this.#exporter.add({ ...ids, ...end, ...wallTimes(this.#startedMs, performance.now()) });
  }
}

/** Further from the clock than it counts by itself: the clock was set. */
const CLOCK_SET_MS = 5;
let wallOffsetMs = performance.timeOrigin;

/** By one offset for all spans while the clock is not set: Date.now() alone has whole milliseconds, and a child would seem to begin first. */
function wallTimes(startedMs: number, endedMs: number) {
  const offsetMs = Date.now() - performance.now();
  if (Math.abs(offsetMs - wallOffsetMs) > CLOCK_SET_MS) wallOffsetMs = offsetMs;
  return { startUnixMs: wallOffsetMs + startedMs, endUnixMs: wallOffsetMs + endedMs };
}
