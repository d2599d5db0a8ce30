// The service's side of one search worker: starts it on first use, restarts it after a crash, and repeats the crashed worker's calls.
import { Worker } from 'node:worker_threads';
import type { ConnectionConfig } from '../../../../../db/database.ts';
import { type Change, CollectionGone, type CollectionRef, type Search, type SearchResult } from '../../port.ts';
import { type BudgetState, MemoryBudget } from '../memory/budget.ts';
import type { FromWorker, PlainError, ToWorker, WorkerSettings } from './protocol.ts';

const TRIES_MAX = 2;
const CLOSE_WITHIN_MS = 2_000;
/** More would wait in memory behind a long search; what is not handed over is read. */
const CHANGES_UNDER_WAY_MAX = 64;

export interface WorkerEvents {
  onMessage(message: Extract<FromWorker, { type: 'state' | 'counted' | 'pressed' }>): void;
  /** The worker's collections are in memory no more. */
  onDeath(error: Error): void;
  trouble(error: Error): void;
}

interface WorkerClientOptions {
  readonly connection: ConnectionConfig;
  readonly budget: BudgetState;
  readonly worker: number;
  readonly listsFromBytes: number;
  readonly events: WorkerEvents;
}

interface Pending {
  readonly ref: CollectionRef;
  readonly searches: readonly Search[];
  readonly resolve: (results: SearchResult[]) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
}

export class WorkerClient {
  readonly #options: WorkerClientOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls = 0;
  #changesUnderWay = 0;
  #closed = false;

  constructor(options: WorkerClientOptions) {
    this.#options = options;
  }

  /** Of the running thread; undefined before the first search. */
  get threadId(): number | undefined {
    return this.#worker?.threadId;
  }

  async search(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]> {
    signal.throwIfAborted();
    if (this.#closed) throw new Error('the vector engine is closed');
    const call = this.#calls;
    this.#calls += 1;
    const cancel = () => {
      this.#take(call)?.reject(signal.reason);
      this.tell({ type: 'cancel', call });
    };
    try {
      return await new Promise((resolve, reject) => {
        const pending: Pending = { ref, searches, resolve, reject, tries: 0 };
        this.#pending.set(call, pending);
        signal.addEventListener('abort', cancel, { once: true });
        this.#send(call, pending);
      });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Hands over what a commit changed. */
  follow(change: Change): void {
    if (this.#worker === undefined || this.#changesUnderWay >= CHANGES_UNDER_WAY_MAX) return;
    this.#changesUnderWay += 1;
    this.#worker.postMessage({ type: 'changed', change } satisfies ToWorker, [change.floats.buffer]);
  }

  /** One of the changes handed over is dealt with. */
  noteFollowed(): void {
    this.#changesUnderWay -= 1;
  }

  /** Says it to a worker that runs. */
  tell(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  /** Ends the thread as a crash would: for tests of what follows one. */
  async kill(): Promise<void> {
    await this.#worker?.terminate();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage({ type: 'close' } satisfies ToWorker);
    const late = setTimeout(() => void worker.terminate(), CLOSE_WITHIN_MS);
    await ended;
    clearTimeout(late);
  }

  #send(call: number, pending: Pending): void {
    pending.tries += 1;
    this.#worker ??= this.#start();
    const { ref, searches } = pending;
    this.#worker.postMessage({ type: 'search', call, ref, searches } satisfies ToWorker);
  }

  #start(): Worker {
    const { connection, budget, worker: place, listsFromBytes } = this.#options;
    const workerData: WorkerSettings = { connection, budget, worker: place, listsFromBytes };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, name: `vector-${place}` });
    let reason = new Error('the search worker ended');
    worker.on('message', (message: FromWorker) => this.#hear(message));
    worker.on('error', (error) => {
      reason = new Error('the search worker failed', { cause: error });
    });
    worker.once('exit', () => this.#endWorker(worker, reason));
    return worker;
  }

  #hear(message: FromWorker): void {
    const { events } = this.#options;
    if (message.type === 'trouble') events.trouble(errorOf(message.error));
    else if (message.type === 'found') this.#take(message.call)?.resolve([...message.results]);
    else if (message.type === 'failed') this.#take(message.call)?.reject(errorOf(message.error));
    else events.onMessage(message);
  }

  #take(call: number): Pending | undefined {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    return pending;
  }

  #endWorker(worker: Worker, reason: Error): void {
    if (this.#worker === worker) {
      this.#worker = undefined;
      this.#changesUnderWay = 0;
    }
    const { budget: state, worker: place, events } = this.#options;
    const budget = new MemoryBudget(state);
    budget.setHeld(place, 0);
    budget.setOldest(place, null);
    if (!this.#closed) events.onDeath(reason);
    for (const [call, pending] of [...this.#pending]) {
      if (!this.#closed && pending.tries < TRIES_MAX) {
        this.#send(call, pending);
        continue;
      }
      this.#pending.delete(call);
      pending.reject(reason);
    }
  }
}

/** The error as it was thrown in the worker, as far as callers tell errors apart: by class and code. */
function errorOf({ gone, name, message, code, stack }: PlainError): Error {
  const error = gone ? new CollectionGone(message) : new Error(message);
  Object.assign(error, { name, stack });
  return code === undefined ? error : Object.assign(error, { code });
}
