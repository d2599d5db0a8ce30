// Readers of bodies that may be long. Short ones are read on the event loop, long ones in threads, so that no other call waits for them. A
// thread has one body at a time. If a body crashes its thread or takes too long, the next thread reads the others.
import { AccountThreads } from '../../core/account-threads.ts';
import { admission } from '../../core/admission.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { invalidField, problem } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { type BulkOutcome, type RequestParts, readOutcome } from './outcome.ts';
import { Slices } from './slices.ts';
import { type Done, fromPlain, fromPlainOutcome, type Job, type Read } from './wire.ts';

/**
 * Longer ones take a thread: reading 64 KiB takes about 2 ms, going to a thread and back a fraction of one. Threads for captures of
 * 50 KB, when one had nothing to do, took a tenth more processor time and brought nothing on two cores.
 */
const { readHereBytesMax } = admission.call;
/** Of longer ones a slice would have one or two, and commits too few: captures of 50 KB go from 0.36 to 0.33 of the no-op. */
const SLICED_BYTES_MAX = 16 * 1024;
/** Reading shorter ones takes some 10 µs. */
const SLICED_BYTES_MIN = 2 * 1024;
/** Whether a body of so many bytes (NaN: not known) is read where it arrived. */
export function isShort(bytes: number): boolean {
  return bytes <= readHereBytesMax;
}

export class BodyReaders {
  readonly #threads: AccountThreads<Job, Read>;
  readonly #slices = new Slices();
  readonly #closing = new AbortController();

  constructor({ idleMs = admission.all.bodyThreadIdleMs, bounds = admission } = {}) {
    const { bodyThreads, bodyThreadMsMax, bodyThreadHeapMb, bodyThreadNiceness } = bounds.all;
    this.#threads = new AccountThreads(new URL('./thread.ts', import.meta.url), {
      threads: bodyThreads,
      msMax: bodyThreadMsMax,
      heapMb: bodyThreadHeapMb,
      niceness: bodyThreadNiceness,
      idleMs,
    });
  }

  /** Threads that there are now. */
  get threads(): number {
    return this.#threads.count;
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
    if (bulk === undefined || length <= (bulk.hereBytesMax ?? readHereBytesMax)) {
      const readHere = () => readOutcome(endpoint, joinBody(body), key).outcome;
      return length < SLICED_BYTES_MIN || length > SLICED_BYTES_MAX ? readHere() : this.#slices.run(readHere);
    }
    // Short ones lie beside others in memory, and cannot be handed over.
    const handed = isShort(length) ? body.map(alone) : body;
    return this.#inThread(accountId, { source: bulk.source, id, body: handed, key }).then(outcomeOf);
  }

  /** What the task makes of the body. Throws as `read` and the task do. A long body is handed over: it is empty afterwards. */
  run<Result>(accountId: string, task: BodyTask<Result>, body: Buffer<ArrayBuffer>): Result | Promise<Result> {
    if (body.length <= (task.hereBytesMax ?? readHereBytesMax)) return task.run(body);
    const job = { source: task.source, id: task.id, body: [alone(body)], key: null };
    return this.#inThread(accountId, job).then(resultOf<Result>);
  }

  /** Ends what is being read, too. */
  close(): Promise<void> {
    this.#closing.abort(problem('SERVICE_UNAVAILABLE', { message: 'The service stops.', retryAfterMs: 1000 }));
    return this.#threads.close();
  }

  #inThread(accountId: string, job: Job): Promise<Done> {
    return this.#threads.run(accountId, this.#closing.signal, async (perform) => {
      const transfer = [...new Set(job.body.map((block) => block.buffer))];
      const read = await perform(job, { transfer });
      if (read.kind === 'answer') return read.answer.done;
      if (read.kind === 'memory') throw new Error('a thread that reads bodies has ended');
      throw invalidField('body', 'too_complex', 'To read the body takes too long: send less of it at a time.');
    });
  }
}

/** A short body shares its memory with others, and cannot be handed over: Node keeps one pool for all. */
function alone(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return body.length === body.buffer.byteLength ? body : new Uint8Array(body);
}

function joinBody(body: readonly Uint8Array<ArrayBuffer>[]): Buffer {
  const [first] = body;
  return body.length === 1 && first !== undefined
    ? Buffer.from(first.buffer, first.byteOffset, first.length)
    : Buffer.concat(body);
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
