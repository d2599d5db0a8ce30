// Messages between the service's thread and its search workers.
import type { ConnectionConfig } from '../../../../../db/database.ts';
import type { Change, CollectionRef, IndexState, Search, SearchResult } from '../../port.ts';
import type { BudgetState } from '../memory/budget.ts';

export interface WorkerSettings {
  readonly connection: ConnectionConfig;
  readonly budget: BudgetState;
  /** Its place in the budget. */
  readonly worker: number;
  readonly listsFromBytes: number;
}

export type ToWorker =
  | {
      readonly type: 'search';
      readonly call: number;
      readonly ref: CollectionRef;
      readonly searches: readonly Search[];
    }
  | { readonly type: 'cancel'; readonly call: number }
  /** Answered by `counted`: it was followed, or skipped. */
  | { readonly type: 'changed'; readonly change: Change }
  | { readonly type: 'forget'; readonly accountId: string; readonly collectionId: string }
  /** Another worker needs room. */
  | { readonly type: 'evict' }
  | { readonly type: 'close' };

/** An error as it crosses threads: `gone` stands for CollectionGone. */
export interface PlainError {
  readonly gone: boolean;
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export type FromWorker =
  | { readonly type: 'found'; readonly call: number; readonly results: readonly SearchResult[] }
  | { readonly type: 'failed'; readonly call: number; readonly error: PlainError }
  | ({ readonly type: 'state'; readonly key: string } & IndexState)
  | { readonly type: 'counted'; readonly counter: Counter }
  /** It may not free what others hold: the oldest of all is to be evicted. */
  | { readonly type: 'pressed' }
  | { readonly type: 'trouble'; readonly error: PlainError };

export type Counter =
  | 'loads'
  | 'reloads'
  | 'deltas'
  | 'changesFollowed'
  | 'changesSkipped'
  | 'evictions'
  | 'streamed'
  | 'listBuilds'
  | 'recallChecks';

export const keyOf = (accountId: string, collectionId: string) => `${accountId}/${collectionId}`;
