// What runs in this process: the bound that sheds overload, and the figures for /metrics.
import type { IncomingHttpHeaders } from 'node:http';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { problem } from '../problems/problem.ts';

const CALLS_MAX = 20_000;
const BODY_BYTES_MAX = 256 * 1024 * 1024;
const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];

export class Traffic {
  readonly #requests: Counter<'capability' | 'status'>;
  readonly #latency: Histogram<'capability'>;
  #calls = 0;
  #bodyBytes = 0;

  constructor(registry: Registry) {
    this.#requests = new Counter({
      name: 'qm_calls_total',
      help: 'Calls by capability and HTTP status.',
      labelNames: ['capability', 'status'],
      registers: [registry],
    });
    this.#latency = new Histogram({
      name: 'qm_call_seconds',
      help: 'Time from the first byte of a call to its answer.',
      labelNames: ['capability'],
      buckets: LATENCY_BUCKETS_SECONDS,
      registers: [registry],
    });
    new Gauge({
      name: 'qm_calls_running',
      help: 'Calls running now.',
      registers: [registry],
      collect: (() => {
        const running = () => this.#calls;
        return function collect(this: Gauge) {
          this.set(running());
        };
      })(),
    });
  }

  get running(): number {
    return this.#calls;
  }

  /** Takes a place for the call and its body, which is counted before it is read. Throws OVERLOADED. */
  begin(raw: { readonly headers: IncomingHttpHeaders }, bodyBytesMax: number): void {
    const bytes = announcedBytes(raw.headers, bodyBytesMax);
    if (this.#calls >= CALLS_MAX || this.#bodyBytes + bytes > BODY_BYTES_MAX)
      throw problem('OVERLOADED', { retryAfterMs: 1000 });
    this.#calls += 1;
    this.#bodyBytes += bytes;
  }

  end(headers: IncomingHttpHeaders, bodyBytesMax: number): void {
    this.#calls -= 1;
    this.#bodyBytes -= announcedBytes(headers, bodyBytesMax);
  }

  record(capability: string, status: number, latencyMs: number): void {
    this.#requests.inc({ capability, status });
    this.#latency.observe({ capability }, latencyMs / 1000);
  }
}

function announcedBytes(headers: IncomingHttpHeaders, bodyBytesMax: number): number {
  const length = headers['content-length'];
  if (length !== undefined) return Math.min(Number(length) || 0, bodyBytesMax);
  return headers['transfer-encoding'] === undefined ? 0 : bodyBytesMax;
}
