// The embedded engine: a few worker threads, each the home of some collections, under one memory budget.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Logger } from '../../../../core/process/logger.ts';
import type { ConnectionConfig } from '../../../../db/database.ts';
import type { Change, CollectionRef, IndexState, Search, SearchResult, VectorEngine } from '../port.ts';
import { createBudget, MemoryBudget } from './memory/budget.ts';
import { type Counter, keyOf } from './threads/protocol.ts';
import { WorkerClient, type WorkerEvents } from './threads/worker-client.ts';

const WORKERS_MAX = 8;
const MIB = 2 ** 20;
const LISTS_FROM_BYTES = 64 * MIB;
const COLD: IndexState = { state: 'cold', bytes: 0 };

export interface EmbeddedEngineOptions {
  readonly connection: ConnectionConfig;
  /** What collections in memory may take, all workers together. */
  readonly memoryMb: number;
  /** Threads; one less than there are processors, at most 8, when absent. */
  readonly workers?: number;
  /** From so many bytes of int8 rows on, unfiltered searches that need not be exact use lists; 64 MiB when absent. */
  readonly listsFromBytes?: number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}

export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  return new EmbeddedEngine(options);
}

export class EmbeddedEngine implements VectorEngine {
  readonly name = 'embedded';
  readonly #workers: WorkerClient[] = [];
  readonly #budget: MemoryBudget;
  readonly #states = new Map<string, IndexState & { readonly worker: number }>();
  readonly #counted: Record<Counter, number> = {
    loads: 0,
    reloads: 0,
    deltas: 0,
    changesFollowed: 0,
    changesSkipped: 0,
    evictions: 0,
    streamed: 0,
    listBuilds: 0,
    recallChecks: 0,
  };
  #restarts = 0;

  constructor(options: EmbeddedEngineOptions) {
    const { connection, memoryMb, workers, log } = options;
    const { listsFromBytes = LISTS_FROM_BYTES } = options;
    const count = workers ?? Math.max(1, Math.min(WORKERS_MAX, availableParallelism() - 1));
    const budget = createBudget(count, memoryMb * MIB);
    this.#budget = new MemoryBudget(budget);
    const common = { connection, budget, listsFromBytes };
    for (let worker = 0; worker < count; worker += 1)
      this.#workers.push(new WorkerClient({ ...common, worker, events: this.#eventsOf(worker, log) }));
  }

  search(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]> {
    return this.#homeOf(ref.collectionId).search(ref, searches, signal);
  }

  noteChange(change: Change): void {
    if (this.indexState(change.ref).state === 'ready') this.#homeOf(change.ref.collectionId).follow(change);
  }

  indexState(ref: CollectionRef): IndexState {
    const { state, bytes } = this.#states.get(keyOf(ref.accountId, ref.collectionId)) ?? COLD;
    return { state, bytes };
  }

  forget(accountId: string, collectionId: string): void {
    this.#homeOf(collectionId).tell({ type: 'forget', accountId, collectionId });
  }

  gauges(): Readonly<Record<string, number>> {
    return {
      workers: this.threadIds().length,
      memory_bytes: this.#budget.totalBytes,
      memory_budget_bytes: this.#budget.bytesMax,
      collections_in_memory: this.#states.size,
      worker_restarts: this.#restarts,
      loads: this.#counted.loads,
      reloads: this.#counted.reloads,
      deltas: this.#counted.deltas,
      changes_followed: this.#counted.changesFollowed,
      changes_skipped: this.#counted.changesSkipped,
      evictions: this.#counted.evictions,
      streamed: this.#counted.streamed,
      list_builds: this.#counted.listBuilds,
      recall_checks: this.#counted.recallChecks,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }

  /** Of the threads that run. */
  threadIds(): number[] {
    return this.#workers.map(({ threadId }) => threadId).filter((id) => id !== undefined);
  }

  /** Ends every worker as a crash would. */
  async killWorkers(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
  }

  #homeOf(collectionId: string): WorkerClient {
    const hash = createHash('sha256').update(collectionId).digest().readUInt32BE(0);
    return this.#workers[hash % this.#workers.length] as WorkerClient;
  }

  #eventsOf(worker: number, log: EmbeddedEngineOptions['log']): WorkerEvents {
    return {
      onMessage: (message) => {
        if (message.type === 'counted') this.#count(worker, message.counter);
        else if (message.type === 'pressed') this.#evictOldest();
        else if (message.state === 'cold') this.#states.delete(message.key);
        else this.#states.set(message.key, { state: message.state, bytes: message.bytes, worker });
      },
      onDeath: (error) => {
        this.#restarts += 1;
        for (const [key, state] of this.#states) if (state.worker === worker) this.#states.delete(key);
        log.error({ err: error }, 'a search worker ended; it starts anew with the next search');
      },
      trouble: (error) => log.warn({ err: error }, 'a search worker met an error'),
    };
  }

  #count(worker: number, counter: Counter): void {
    this.#counted[counter] += 1;
    if (counter === 'changesFollowed' || counter === 'changesSkipped') this.#workers[worker]?.noteFollowed();
  }

  #evictOldest(): void {
    const worker = this.#budget.oldestWorker();
    if (worker !== undefined) this.#workers[worker]?.tell({ type: 'evict' });
  }
}
