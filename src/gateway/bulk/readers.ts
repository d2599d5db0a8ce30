// Where bodies that may be long are read: short ones here and now, long ones in threads, so that no other call waits for them.
// An account never has all threads, whatever it sends. A thread has one body at a time: should it be the end of the thread, or take too long, the others
// are read by the next.
import { Worker } from 'node:worker_threads';
import { AccountPlaces } from '../../core/account-places.ts';
import { waitingBounds } from '../../core/account-turns.ts';
import { admission } from '../../core/admission.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { invalidField, problem } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { type BulkOutcome, type RequestParts, readOutcome } from './outcome.ts';
import { Slices } from './slices.ts';
import { type Done, fromPlain, fromPlainOutcome, type Job } from './wire.ts';

/**
 * Longer ones take a thread: reading 64 KiB takes about 2 ms, going to a thread and back a fraction of one. Threads for captures of
 * 50 KB, when one had nothing to do, took a tenth more processor time and brought nothing on two cores.
 */
const { readHereBytesMax } = admission.call;
/** Of longer ones a slice would have one or two, and commits too few: captures of 50 KB go from 0.36 to 0.33 of the no-op. */
const SLICED_BYTES_MAX = 16 * 1024;
/** Reading shorter ones takes some 10 µs. */
const SLICED_BYTES_MIN = 2 * 1024;
const { bodyThreadHeapMb, bodyThreadIdleMs } = admission.all;

type Running = Pick<PromiseWithResolvers<Done>, 'resolve' | 'reject'>;

interface Thread {
  readonly worker: Worker;
  running: Running | null;
  /** Ends it when nothing more comes. */
  retirement: NodeJS.Timeout | null;
}

/** Whether a body of so many bytes (NaN: not known) is read where it arrived. */
export function isShort(bytes: number): boolean {
  return bytes <= readHereBytesMax;
}

export class BodyReaders {
  readonly #threads = new Set<Thread>();
  readonly #places: AccountPlaces;
  readonly #idleMs: number;
  readonly #msMax: number;
  readonly #niceness: number;
  readonly #slices = new Slices();
  #isClosed = false;

  constructor({ idleMs = bodyThreadIdleMs, bounds = admission } = {}) {
    this.#idleMs = idleMs;
    this.#places = new AccountPlaces(bounds.all.bodyThreads, waitingBounds);
    this.#msMax = bounds.all.bodyThreadMsMax;
    this.#niceness = bounds.all.bodyThreadNiceness;
  }

  /** Threads that there are now. */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * Throws the Problems of a body that is no JSON object, and those of a full queue. A long `body` is handed over: its blocks are
   * empty afterwards.
   */
  read(
    accountId: string,
    endpoint: Endpoint,
    body: readonly Uint8Array<ArrayBuffer>[],
    key: RequestParts,
  ): BulkOutcome | Promise<BulkOutcome> {
    const { bulk, id } = endpoint.capability;
    const length = body.reduce((sum, block) => sum + block.length, 0);
    if (bulk === undefined || isShort(length)) {
      const readHere = () => readOutcome(endpoint, joinBody(body), key).outcome;
      return length < SLICED_BYTES_MIN || length > SLICED_BYTES_MAX ? readHere() : this.#slices.run(readHere);
    }
    return this.#inThread(accountId, { source: bulk.source, id, body, key }).then(outcomeOf);
  }

  /** What the task makes of the body. Throws as `read` and the task do. A long body is handed over: it is empty afterwards. */
  run<Result>(accountId: string, task: BodyTask<Result>, body: Buffer<ArrayBuffer>): Result | Promise<Result> {
    if (body.length <= (task.hereBytesMax ?? readHereBytesMax)) return task.run(body);
    const job = { source: task.source, id: task.id, body: [body], key: null };
    return this.#inThread(accountId, job).then(resultOf<Result>);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #inThread(accountId: string, job: Job): Promise<Done> {
    return this.#places.run(accountId, null, () => this.#perform(job));
  }

  async #perform(job: Job): Promise<Done> {
    if (this.#isClosed) throw problem('SERVICE_UNAVAILABLE', { message: 'The service stops.', retryAfterMs: 1000 });
    const thread = [...this.#threads].find(({ running }) => running === null) ?? this.#start();
    if (thread.retirement !== null) clearTimeout(thread.retirement);
    const { promise, resolve, reject } = Promise.withResolvers<Done>();
    thread.running = { resolve, reject };
    thread.worker.ref();
    thread.worker.postMessage(job, [...new Set(job.body.map((block) => block.buffer))]);
    const late = setTimeout(() => {
      this.#end(
        thread,
        invalidField('body', 'too_complex', 'To read the body takes too long: send less of it at a time.'),
      );
      void thread.worker.terminate();
    }, this.#msMax);
    return promise.finally(() => clearTimeout(late));
  }

  #start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: bodyThreadHeapMb },
      workerData: this.#niceness,
    });
    const thread: Thread = { worker, running: null, retirement: null };
    this.#threads.add(thread);
    worker.on('message', (done: Done) => {
      handBack(thread, done);
      thread.retirement = setTimeout(() => this.#retire(thread), this.#idleMs).unref();
    });
    worker.on('error', (error) => this.#end(thread, error));
    worker.on('exit', (code) => this.#end(thread, new Error(`a thread that reads bodies ended with code ${code}`)));
    return thread;
  }

  #retire(thread: Thread): void {
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  #end(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    thread.running?.reject(error);
    thread.running = null;
  }
}

function joinBody(body: readonly Uint8Array<ArrayBuffer>[]): Buffer {
  const [first] = body;
  return body.length === 1 && first !== undefined
    ? Buffer.from(first.buffer, first.byteOffset, first.length)
    : Buffer.concat(body);
}

function handBack(thread: Thread, done: Done): void {
  const { running } = thread;
  thread.running = null;
  thread.worker.unref();
  running?.resolve(done);
}

function outcomeOf(done: Done): BulkOutcome {
  if ('outcome' in done) return fromPlainOutcome(done.outcome);
  throw failureOf(done);
}

function resultOf<Result>(done: Done): Result {
  if ('result' in done) return done.result as Result;
  throw failureOf(done);
}

function failureOf(done: Done): Error {
  if ('refused' in done) return fromPlain(done.refused);
  return new Error('broken' in done ? done.broken : 'a thread answered something else than it was asked');
}
