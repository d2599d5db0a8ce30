// Traffic of this process: the use of each bound of admission.ts per owner, also shown in /metrics.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type Admission, admission } from '../../core/admission.ts';
import { FairPlaces } from '../../lib/fair-places.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { CallPlaces } from './call-places.ts';

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];
const RETRY_AFTER_MS = 1_000;

/** What one call occupies. */
export interface Place {
  /** Its account; before that is known, its address. */
  owner: string;
  bodyBytes: number;
  /** Of the answer that is being made. */
  answerBytes: number;
  /** Whether it has one of the places of those that run, or of streams. */
  runs: boolean;
  streams: boolean;
  ended: boolean;
}

export class Traffic {
  readonly bounds: Admission;
  /** Bytes of answers that their clients have not read, by owner. */
  readonly answers: FairPlaces;
  readonly #making: FairPlaces;
  readonly #bodies: FairPlaces;
  readonly #streams: FairPlaces;
  readonly #callPlaces: CallPlaces;
  readonly #requests: Counter<'capability' | 'status'>;
  readonly #latency: Histogram<'capability'>;
  #calls = 0;

  constructor(registry: Registry, bounds: Admission = admission) {
    this.bounds = bounds;
    this.answers = new FairPlaces(bounds.all.answerBytesMax);
    this.#making = new FairPlaces(bounds.all.answerMakingBytesMax);
    this.#bodies = new FairPlaces(bounds.all.bodyBytesMax);
    this.#streams = new FairPlaces(bounds.all.streams);
    this.#callPlaces = new CallPlaces(bounds.all);
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
    gauge(registry, 'qm_calls_running', 'Calls running or waiting now.', () => this.#calls);
    gauge(registry, 'qm_calls_waiting', 'Calls that wait for a place.', () => this.#callPlaces.waiting);
    gauge(
      registry,
      'qm_streams',
      'Bodies and answers that are read or written as they come.',
      () => this.#streams.taken,
    );
    gauge(registry, 'qm_body_bytes', 'Bytes of bodies received and not done with.', () => this.#bodies.taken);
    gauge(registry, 'qm_answer_making_bytes', 'Bytes of answers that are being made.', () => this.#making.taken);
    gauge(registry, 'qm_answer_bytes', 'Bytes of answers that clients have not read.', () => this.answers.taken);
  }

  /** Calls that run or wait, and answers that are not read: what a stop waits for. */
  get busy(): boolean {
    return this.#calls > 0 || this.answers.taken > 0;
  }

  /** A call has arrived. It takes nothing yet: its connection bounds it. */
  begin(owner: string): Place {
    this.#calls += 1;
    return { owner, bodyBytes: 0, answerBytes: 0, runs: false, streams: false, ended: false };
  }

  /** Part of its body has arrived. Throws CONCURRENCY_LIMITED, OVERLOADED. */
  receive(place: Place, bytes: number): void {
    if (place.ended) return;
    if (!this.#bodies.take(place.owner, bytes)) throw tooMany(this.#bodies, place.owner);
    place.bodyBytes += bytes;
  }

  /** So many bytes of what was received are held no longer. */
  forget(place: Place, bytes: number): void {
    if (place.ended || bytes === 0) return;
    this.#bodies.release(place.owner, bytes);
    place.bodyBytes -= bytes;
  }

  /** The account is known: from now on the body counts as its, and a place to run in is to be asked for anew. Throws CONCURRENCY_LIMITED, OVERLOADED. */
  claim(place: Place, accountId: string): void {
    if (place.ended || place.owner === accountId) return;
    const { owner, bodyBytes, streams } = place;
    this.idle(place);
    if (streams) this.#streams.release(owner, 1);
    place.streams = false;
    place.owner = accountId;
    if (streams) this.stream(place);
    if (bodyBytes === 0) return;
    this.#bodies.release(owner, bodyBytes);
    place.bodyBytes = 0;
    this.receive(place, bodyBytes);
  }

  /** A further part of its answer is held until it is written. Throws CONCURRENCY_LIMITED, OVERLOADED. */
  make(place: Place, bytes: number): void {
    if (place.ended) return;
    if (!this.#making.take(place.owner, bytes)) throw tooMany(this.#making, place.owner);
    place.answerBytes += bytes;
  }

  /** As `make`, of what is made already: it counts in any case. */
  countMade(place: Place, bytes: number): void {
    if (place.ended) return;
    this.#making.force(place.owner, bytes);
    place.answerBytes += bytes;
  }

  /** Throws CONCURRENCY_LIMITED or OVERLOADED when nothing more may be made for its account now. */
  requireRoom({ owner }: Place): void {
    if (!this.#making.hasRoom(owner)) throw tooMany(this.#making, owner);
  }

  /**
   * Waits, if need be, for a place to run in; `waitedMs`: so long it has waited already. Answers false when the call has ended meanwhile. Throws CONCURRENCY_LIMITED when its account
   * has too many that run, or too much of its answers is not read; OVERLOADED when all have.
   */
  run(place: Place, waitedMs = 0): boolean | Promise<boolean> {
    if (place.runs || place.ended) return place.runs;
    if (this.answers.taken > 0 && this.answers.isGreedy(place.owner)) throw tooMany(this.answers, place.owner);
    const { owner } = place;
    const turn = this.#callPlaces.take(owner, waitedMs);
    if (turn === undefined) {
      place.runs = true;
      return true;
    }
    return turn.then((taken) => {
      if (!taken) throw tooMany(this.#callPlaces, owner);
      if (place.ended) this.#callPlaces.give(owner);
      else place.runs = true;
      return !place.ended;
    });
  }

  /**
   * Takes a place among streams, in place of one to run in: what is read and written as it comes waits for its client most of the time.
   * Throws CONCURRENCY_LIMITED, OVERLOADED.
   */
  stream(place: Place): void {
    if (place.streams || place.ended) return;
    if (!this.#streams.take(place.owner, 1)) throw tooMany(this.#streams, place.owner);
    place.streams = true;
    this.idle(place);
  }

  /** As `run`, of a call that others wait for, and that therefore may not wait itself. */
  runNow(place: Place): void {
    if (place.runs || place.ended) return;
    if (!this.#callPlaces.takeNow(place.owner)) throw tooMany(this.#callPlaces, place.owner);
    place.runs = true;
  }

  /** The call holds nothing but its connection from now on, as one that waits for a message: its place is for others. */
  idle(place: Place): void {
    if (!place.runs) return;
    place.runs = false;
    this.#callPlaces.give(place.owner);
  }

  end(place: Place): void {
    if (place.ended) return;
    place.ended = true;
    this.#calls -= 1;
    this.idle(place);
    if (place.streams) this.#streams.release(place.owner, 1);
    if (place.bodyBytes > 0) this.#bodies.release(place.owner, place.bodyBytes);
    if (place.answerBytes > 0) this.#making.release(place.owner, place.answerBytes);
  }

  record(capability: string, status: number, latencyMs: number): void {
    this.#requests.inc({ capability, status });
    this.#latency.observe({ capability }, latencyMs / 1000);
  }
}

/** Who holds much is told that it is their own; everybody else, that it is all. */
function tooMany(of: { isGreedy(owner: string): boolean }, owner: string): Problem {
  return problem(of.isGreedy(owner) ? 'CONCURRENCY_LIMITED' : 'OVERLOADED', { retryAfterMs: RETRY_AFTER_MS });
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
