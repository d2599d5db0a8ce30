// Where bodies that may be long are read: short ones here and now, long ones in threads, so that no other call waits for them.
import { Worker } from 'node:worker_threads';
import type { Endpoint } from '../endpoint.ts';
import { type BulkOutcome, type RequestKey, readOutcome } from './outcome.ts';
import { type Done, fromPlain, fromPlainOutcome, type Job } from './wire.ts';

/** Longer ones take a thread: reading 64 KiB takes about 2 ms, going to a thread and back a fraction of one. */
const HERE_BYTES_MAX = 64 * 1024;
const THREADS_MAX = 2;

interface Waiting {
  resolve(outcome: BulkOutcome): void;
  reject(error: unknown): void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

export class BodyReaders {
  readonly #threads = new Set<Thread>();
  #number = 0;

  /** Throws the Problems of a body that is no JSON object. A long `body` is handed over: its blocks are empty afterwards. */
  async read(endpoint: Endpoint, body: readonly Uint8Array<ArrayBuffer>[], key: RequestKey): Promise<BulkOutcome> {
    const { bulk, id } = endpoint.capability;
    const length = body.reduce((sum, block) => sum + block.length, 0);
    if (bulk === undefined || length <= HERE_BYTES_MAX) return readOutcome(endpoint, Buffer.concat(body), key).outcome;
    const thread = this.#thread();
    this.#number += 1;
    const number = this.#number;
    const job: Job = { number, source: bulk.source, capability: id, body, key };
    return new Promise((resolve, reject) => {
      thread.waiting.set(number, { resolve, reject });
      thread.worker.ref();
      thread.worker.postMessage(
        job,
        body.map((block) => block.buffer),
      );
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  /** An idle one, else a new one, else the one with the shortest queue. */
  #thread(): Thread {
    const [least] = [...this.#threads].sort((a, b) => a.waiting.size - b.waiting.size);
    if (least !== undefined && (least.waiting.size === 0 || this.#threads.size >= THREADS_MAX)) return least;
    return this.#start();
  }

  #start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url));
    const thread: Thread = { worker, waiting: new Map() };
    this.#threads.add(thread);
    worker.on('message', (done: Done) => settle(thread, done));
    worker.on('error', (error) => this.#end(thread, error));
    worker.on('exit', (code) => this.#end(thread, new Error(`a thread that reads bodies ended with code ${code}`)));
    return thread;
  }

  #end(thread: Thread, error: unknown): void {
    this.#threads.delete(thread);
    for (const { reject } of thread.waiting.values()) reject(error);
    thread.waiting.clear();
  }
}

function settle({ worker, waiting }: Thread, done: Done): void {
  const job = waiting.get(done.number);
  waiting.delete(done.number);
  if (waiting.size === 0) worker.unref();
  if ('outcome' in done) job?.resolve(fromPlainOutcome(done.outcome));
  else job?.reject('refused' in done ? fromPlain(done.refused) : new Error(done.broken));
}
