// Exports ended spans to the collector by OTLP over HTTP, up to 512 per request. Nothing awaits it: spans are buffered in a bounded queue; when
// that is full they are dropped and counted. A batch is resent only if the collector was unreachable or asked for it.
import type { OutboundClient, OutboundReply } from '../../vendors/http/port.ts';
import type { Logger } from '../process/logger.ts';
import type { Metric } from '../process/metric.ts';
import { type EndedSpan, exportRequest } from './otlp.ts';
import type { Attributes } from './tracing.ts';

export interface SpanExporterOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  /** Its requests are no spans. */
  readonly outbound: OutboundClient;
  readonly log: Logger;
  /** 5 s when absent. */
  readonly everyMs?: number;
}

const SPANS_MAX = 2_048;
const SPANS_PER_REQUEST = 512;
const EVERY_MS = 5_000;
const STOP_MS = 2_000;
const LOG_EVERY_MS = 60_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const LIMITS = {
  connectMs: 5_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 10_000,
  answerBytesMax: ANSWER_BYTES_MAX,
};
/** Of which a request may be sent again (opentelemetry.io/docs/specs/otlp, "Failures"). */
const RETRYABLE = [429, 502, 503, 504];

/** `later`: the same spans may be sent again. */
type Sent =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused' | 'later'; readonly reason: string; readonly spans?: number };

export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #waiting: EndedSpan[] = [];
  #sending: Promise<void> | null = null;
  #isDown = false;
  #sent = 0;
  #dropped = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), options.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length >= SPANS_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    // While the collector is down, the timer alone tries.
    if (this.#waiting.length >= SPANS_PER_REQUEST && !this.#isDown) this.#send();
  }

  metrics(): readonly Metric[] {
    const sent = { name: 'qm_trace_spans_sent_total', help: 'Spans that the collector of traces has taken.' };
    const dropped = { name: 'qm_trace_spans_dropped_total', help: 'Spans that could not be sent.' };
    return [
      { ...sent, labels: {}, value: this.#sent },
      { ...dropped, labels: {}, value: this.#dropped },
    ];
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const timer = setTimeout(() => this.#stopping.abort(), STOP_MS);
    await this.#sending;
    this.#send();
    await this.#sending;
    clearTimeout(timer);
    await this.#options.outbound.close();
  }

  #send(): void {
    if (this.#sending !== null || this.#waiting.length === 0) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  /** Until less waits than there was when it began, or the collector is down. */
  async #sendAll(): Promise<void> {
    let left = this.#waiting.length;
    while (left > 0 && !this.#stopping.signal.aborted) {
      const batch = this.#waiting.slice(0, SPANS_PER_REQUEST);
      left -= batch.length;
      const outcome = await this.#post(batch);
      this.#isDown = outcome.kind === 'later';
      if (outcome.kind !== 'taken') this.#tell(outcome.reason);
      if (outcome.kind === 'later') return;
      const refused = outcome.kind === 'taken' ? 0 : Math.min(outcome.spans ?? batch.length, batch.length);
      this.#waiting = this.#waiting.slice(batch.length);
      this.#sent += batch.length - refused;
      this.#dropped += refused;
    }
  }

  async #post(batch: readonly EndedSpan[]): Promise<Sent> {
    const { url, headers, resource, outbound } = this.#options;
    const reply = await outbound.send({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      credentials: headers,
      operator: { origin: new URL(url).origin },
      body: exportRequest(resource, batch),
      limits: LIMITS,
      signal: this.#stopping.signal,
    });
    return reply.kind === 'failed' ? { kind: 'later', reason: reply.message } : readReply(reply);
  }

  #tell(reason: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return;
    this.#loggedMs = nowMs;
    const { url, log } = this.#options;
    const counts = { waiting: this.#waiting.length, dropped: this.#dropped };
    log.warn({ url, reason, ...counts }, 'traces cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT');
  }
}

async function readReply({ status, body }: Extract<OutboundReply, { kind: 'answered' }>): Promise<Sent> {
  let text = '';
  try {
    for await (const chunk of body.setEncoding('utf8')) text += chunk;
  } catch (error) {
    return { kind: 'later', reason: error instanceof Error ? error.message : String(error) };
  }
  if (status === 200) return partialSuccess(text);
  return {
    kind: RETRYABLE.includes(status) ? 'later' : 'refused',
    reason: `The collector answers with status ${status}.`,
  };
}

/** A collector may take the request and refuse spans of it. */
function partialSuccess(text: string): Sent {
  const [, count = '0'] = /"rejectedSpans"\s*:\s*"?(\d+)/.exec(text) ?? [];
  if (count === '0') return { kind: 'taken' };
  return { kind: 'refused', spans: Number(count), reason: `The collector refuses ${count} spans.` };
}
