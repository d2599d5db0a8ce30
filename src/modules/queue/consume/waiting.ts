// Long polling: consumers that wait for messages hold no connection and send no query. A publish in this process, or in another behind the same
// port, wakes them. For further processes, delays and ended leases, one poll finds the queues with something to deliver, for all consumers.
// Without waiting consumers nothing is polled.

import { noSiblings, type Siblings } from '../../../core/process/siblings.ts';
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const LOOK_MS = 250;
// However many queues there are, looking takes a fifth of the time of one connection at most.
const REST_FACTOR = 4;
const QUEUES_PER_LOOK = 1_000;
/** Consumers of one queue that one look wakes. */
const WAKES_MAX = 100;

// A descent of the index for each queue: 10 µs while there is nothing. Queues that are gone are found too: who waits for one is told.
const selectReady = statement(
  'waiting_find_ready',
  `SELECT w.place::int AS place, CASE WHEN q.queue_id IS NOT NULL THEN r.ready END AS ready
     FROM unnest($2::text[], $3::text[], $4::int[]) WITH ORDINALITY AS w(account_id, name, wanted, place)
     LEFT JOIN LATERAL (
          SELECT q.queue_id, q.type, q.has_bands
            FROM queue.queue q
           WHERE q.account_id = ANY($1::text[]) AND q.account_id = w.account_id AND q.name = w.name
          OFFSET 0) q ON true
    CROSS JOIN LATERAL (
          SELECT count(*)::int AS ready
            FROM ((SELECT 1
                     FROM queue.message m
                    WHERE q.type = 'standard' AND m.account_id = ANY($1::text[]) AND m.account_id = w.account_id AND m.queue_id = q.queue_id
                      AND m.band = 10
                      AND m.visible_at <= core.clock_now()
                    LIMIT w.wanted)
                  UNION ALL
                  (SELECT 1
                     FROM queue.message m
                    WHERE q.has_bands AND m.account_id = ANY($1::text[]) AND m.account_id = w.account_id AND m.queue_id = q.queue_id
                      AND m.band = ANY('{0,1,2,3,4,5,6,7,8,9}'::smallint[]) AND m.visible_at <= core.clock_now()
                    LIMIT w.wanted)
                  UNION ALL
                  (SELECT 1
                     FROM queue.fifo_group g
                    WHERE q.type = 'fifo' AND g.account_id = ANY($1::text[]) AND g.account_id = w.account_id AND g.queue_id = q.queue_id
                      AND g.ready_at <= core.clock_now()
                    LIMIT w.wanted)) found) r
    WHERE q.queue_id IS NULL OR r.ready > 0`,
);

type Wake = () => void;

/** Told to the other processes: messages for consumers that wait there, and what a watcher there wants to know. */
const WAITED_FOR = 'queue.waited_for';
const WATCHED = 'queue.watched';

export class Waiters {
  readonly #siblings: Siblings;
  readonly #waiting = new Map<string, Set<Wake>>();
  #watcher: (key: string) => void = () => undefined;
  #onWait: () => void = () => undefined;
  #stopped = false;

  constructor(siblings: Siblings = noSiblings) {
    this.#siblings = siblings;
    siblings.on(WAITED_FOR, ([key, count]: [string, number]) => this.wakeHere(key, count));
    siblings.on(WATCHED, (key: string) => this.#watcher(key));
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when woken, after `timeoutMs`, when `signal` aborts, or when everything stops. */
  wait(key: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#stopped || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(key);
        if (this.#waiting.size === 0) this.#siblings.want(WAITED_FOR, false);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake, { once: true });
      waiting.add(wake);
      if (this.#waiting.size === 1 && waiting.size === 1) this.#siblings.want(WAITED_FOR, true);
      this.#onWait();
    });
  }

  /** How many wait for each key. */
  waiting(): { key: string; count: number }[] {
    return [...this.#waiting].map(([key, { size }]) => ({ key, count: size }));
  }

  /** Calls `listener` whenever somebody begins to wait. */
  onWait(listener: () => void): void {
    this.#onWait = listener;
  }

  /** Calls `watcher` at every wake: it waits for all keys at once, and takes no consumer's turn. */
  watch(watcher: (key: string) => void): void {
    this.#watcher = watcher;
  }

  /** Whether the watcher has anything to hear of. */
  watches(anything: boolean): void {
    this.#siblings.want(WATCHED, anything);
  }

  /** Wakes up to `count` consumers of a key, longest waiting first, and elsewhere for what is left. */
  wake(key: string, count: number): void {
    const left = this.wakeHere(key, count);
    if (left > 0) this.#siblings.tell(WAITED_FOR, [key, left]);
    this.#siblings.tell(WATCHED, key);
  }

  /** As `wake`, without a word to other processes. Answers for how many more there is something. */
  wakeHere(key: string, count: number): number {
    this.#watcher(key);
    let left = count;
    for (const wake of [...(this.#waiting.get(key) ?? [])]) {
      if (left <= 0) break;
      left -= 1;
      wake();
    }
    return left;
  }

  /** Every wait ends now, and every later one at once. */
  stop(): void {
    this.#stopped = true;
    for (const waiting of [...this.#waiting.values()]) for (const wake of [...waiting]) wake();
  }
}

export interface WaitingLookOptions {
  readonly db: Database;
  readonly waiters: Waiters;
  /** Told once when looking begins to fail, not again before it has succeeded. */
  onFailure(error: unknown): void;
}

export class WaitingLook {
  readonly #options: WaitingLookOptions;
  #isPlanned = false;
  #isFailing = false;

  constructor(options: WaitingLookOptions) {
    this.#options = options;
    options.waiters.onWait(() => this.#plan(LOOK_MS));
  }

  #plan(delayMs: number): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#look(), delayMs).unref();
  }

  async #look(): Promise<void> {
    const begunMs = performance.now();
    const { db, waiters } = this.#options;
    try {
      const waiting = waiters.waiting();
      for (let at = 0; at < waiting.length; at += QUEUES_PER_LOOK) {
        const queues = waiting.slice(at, at + QUEUES_PER_LOOK).map(waitedFor);
        for (const part of db.byTransaction(queues)) await this.#wakeReady(part);
      }
      this.#isFailing = false;
    } catch (error) {
      // Who waits goes on: the next look, or the last claim at the end of the wait, tells how the database is.
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
    this.#isPlanned = false;
    if (waiters.waiting().length > 0) this.#plan(Math.max(LOOK_MS, (performance.now() - begunMs) * REST_FACTOR));
  }

  async #wakeReady(queues: readonly WaitedFor[]): Promise<void> {
    const { db, waiters } = this.#options;
    const { rows } = await db.hot.query<{ place: number; ready: number | null }>(selectReady, [
      textArray([...new Set(queues.map(({ accountId }) => accountId))]),
      textArray(queues.map(({ accountId }) => accountId)),
      textArray(queues.map(({ name }) => name)),
      int4Array(queues.map(({ consumers }) => Math.min(consumers, WAKES_MAX))),
    ]);
    for (const { place, ready } of rows) {
      const { key } = queues[place - 1] as WaitedFor;
      waiters.wakeHere(key, ready ?? Number.POSITIVE_INFINITY);
    }
  }
}

interface WaitedFor {
  readonly key: string;
  readonly accountId: string;
  readonly name: string;
  readonly consumers: number;
}

function waitedFor({ key, count }: { readonly key: string; readonly count: number }): WaitedFor {
  const [accountId = '', name = ''] = key.split('\n');
  return { key, accountId, name, consumers: count };
}
