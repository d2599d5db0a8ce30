// Long polling for mail in an inbox. A commit of this process wakes the waiting calls; for commits of other processes they poll from time to
// time.
import type { Database } from '../../../db/database.ts';
import { arrivalOf } from './keep.ts';

const LOOK_MS = 1_000;

export class InboxWaiters {
  readonly #db: Pick<Database, 'onHint'>;
  readonly #stop = new AbortController();

  constructor(db: Pick<Database, 'onHint'>) {
    this.#db = db;
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Begins to listen, so that what comes between a look and the wait is not missed. End it by `end`. */
  listen(inboxId: string): Listening {
    return new Listening(this.#db, inboxId, this.#stop.signal);
  }

  /** Every wait ends now, and every later one at once. */
  stop(): void {
    this.#stop.abort();
  }
}

export class Listening {
  readonly #deafen: () => void;
  readonly #stopped: AbortSignal;
  #arrived = Promise.withResolvers<void>();

  constructor(db: Pick<Database, 'onHint'>, inboxId: string, stopped: AbortSignal) {
    this.#stopped = stopped;
    this.#deafen = db.onHint(arrivalOf(inboxId), () => this.#arrived.resolve());
  }

  /** Resolves when mail came, after a second, after `leftMs`, or when `signal` aborts or all stops. */
  async wait(leftMs: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#stopped]);
    if (ended.aborted) return;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, Math.min(leftMs, LOOK_MS));
    const onEnd = () => over.resolve();
    ended.addEventListener('abort', onEnd, { once: true });
    await Promise.race([this.#arrived.promise, over.promise]);
    clearTimeout(timer);
    ended.removeEventListener('abort', onEnd);
    this.#arrived = Promise.withResolvers<void>();
  }

  end(): void {
    this.#deafen();
  }
}
