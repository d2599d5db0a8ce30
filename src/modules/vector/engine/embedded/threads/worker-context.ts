// Resources shared by the collections of one worker.

import type { LimitFunction } from 'p-limit';
import type { Database } from '../../../../../db/database.ts';
import type { ArenaPool } from '../memory/arena.ts';
import type { Shelf } from '../memory/shelf.ts';
import type { Counter } from './protocol.ts';

/** As much of a collection as is told of it. */
interface IndexedCollection {
  readonly key: string;
  readonly resident: { readonly bytes: number } | null;
}

export interface WorkerContext {
  readonly db: Database;
  readonly pool: ArenaPool;
  readonly shelf: Shelf;
  /** Loads and streamed searches at a time. */
  readonly reads: LimitFunction;
  /** Lists built at a time. */
  readonly builds: LimitFunction;
  readonly budgetBytes: number;
  /** From so many bytes of the first pass on, unfiltered searches may use lists. */
  readonly listsFromBytes: number;
  /** What nobody waits for went wrong. */
  trouble(error: unknown): void;
  count(counter: Counter): void;
  /** The collection's index is being made, or has another size. */
  onChange(collection: IndexedCollection, state: 'loading' | 'ready' | 'cold'): void;
}
