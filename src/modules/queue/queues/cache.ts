// Per-process cache of queue settings. Statements that rely on it check id and revision, so a stale entry is detected, never applied.

import type { Queryable } from '../../../db/database.ts';
import { lruOf } from '../../../lib/lru.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from './records.ts';
import { findQueue } from './store.ts';

const ENTRIES_MAX = 10_000;

export class QueueCache {
  readonly #db: Queryable;
  readonly #rows = lruOf<QueueRow>(ENTRIES_MAX);

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** The queue, maybe as it was a while ago. Throws QUEUE_NOT_FOUND. */
  async get(accountId: string, name: string): Promise<QueueRow> {
    return this.#rows.get(`${accountId}\n${name}`) ?? this.refresh(accountId, name);
  }

  /** The queue as it is now. Throws QUEUE_NOT_FOUND. */
  async refresh(accountId: string, name: string): Promise<QueueRow> {
    const id = `${accountId}\n${name}`;
    const row = await findQueue(this.#db, accountId, name);
    this.#rows.delete(id);
    if (row === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
    this.#rows.set(id, row);
    return row;
  }

  /** Runs `work` with remembered settings; when it says that they were stale, once more with fresh ones. */
  async with<T>(accountId: string, name: string, work: (queue: QueueRow) => Promise<T | 'stale'>): Promise<T> {
    let queue = await this.get(accountId, name);
    for (;;) {
      const result = await work(queue);
      if (result !== 'stale') return result;
      queue = await this.refresh(accountId, name);
    }
  }
}
