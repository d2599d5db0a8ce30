// What runs in this process: the bound that sheds overload, and the figures for /metrics.
import type { IncomingHttpHeaders } from 'node:http';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type Admission, admission } from '../core/admission.ts';
import { problem } from '../problems/problem.ts';

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];

/** What one call occupies. */
export interface Place {
  readonly waits: boolean;
  bodyBytes: number;
  /** Once it is known whose body it is. */
  accountId: string | null;
  ended: boolean;
}

export class Traffic {
  readonly #bounds: Admission;
  readonly #requests: Counter<'capability' | 'status'>;
  readonly #latency: Histogram<'capability'>;
  readonly #accountBodyBytes = new Map<string, number>();
  #calls = 0;
  #waitingCalls = 0;
  #bodyBytes = 0;

  constructor(registry: Registry, bounds: Admission = admission) {
    this.#bounds = bounds;
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
        const running = () => this.running;
        return function collect(this: Gauge) {
          this.set(running());
        };
      })(),
    });
  }

  get running(): number {
    return this.#calls + this.#waitingCalls;
  }

  /** Takes a place for the call and its body, which is counted before it is read. Throws OVERLOADED. */
  begin(headers: IncomingHttpHeaders, bodyBytesMax: number, waits: boolean): Place {
    const bodyBytes = announcedBytes(headers, bodyBytesMax);
    const full = waits
      ? this.#waitingCalls >= this.#bounds.all.waitingCallsMax
      : this.#calls >= this.#bounds.all.callsMax;
    if (full || this.#bodyBytes + bodyBytes > this.#bounds.all.bodyBytesMax)
      throw problem('OVERLOADED', { retryAfterMs: 1000 });
    if (waits) this.#waitingCalls += 1;
    else this.#calls += 1;
    this.#bodyBytes += bodyBytes;
    return { waits, bodyBytes, accountId: null, ended: false };
  }

  /** Counts the body for the account, and no longer for the one before. Throws CONCURRENCY_LIMITED. */
  claim(place: Place, accountId: string): void {
    if (place.ended || place.bodyBytes === 0 || place.accountId === accountId) return;
    const bytes = (this.#accountBodyBytes.get(accountId) ?? 0) + place.bodyBytes;
    if (bytes > this.#bounds.account.bodyBytesMax) throw problem('CONCURRENCY_LIMITED', { retryAfterMs: 1000 });
    this.#disown(place, place.bodyBytes);
    this.#accountBodyBytes.set(accountId, bytes);
    place.accountId = accountId;
  }

  /** The body is there: a chunked one is seldom as long as it might have been. */
  arrived(place: Place, bodyBytes: number): void {
    if (!place.ended && bodyBytes < place.bodyBytes) this.#free(place, place.bodyBytes - bodyBytes);
  }

  end(place: Place): void {
    if (place.ended) return;
    this.#free(place, place.bodyBytes);
    place.ended = true;
    if (place.waits) this.#waitingCalls -= 1;
    else this.#calls -= 1;
  }

  #free(place: Place, bytes: number): void {
    place.bodyBytes -= bytes;
    this.#bodyBytes -= bytes;
    this.#disown(place, bytes);
  }

  #disown(place: Place, bytes: number): void {
    if (place.accountId === null) return;
    const left = (this.#accountBodyBytes.get(place.accountId) ?? 0) - bytes;
    if (left > 0) this.#accountBodyBytes.set(place.accountId, left);
    else this.#accountBodyBytes.delete(place.accountId);
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
