// Short calls that succeed: most of what an account does. A sample of what comes in a second waits here, for seconds, and is then written to
// the archive many at once. What a killed process had here is lost.
import type { Admission } from '../admission.ts';
import type { LoggedCall, RequestRow } from './entry.ts';
import type { RequestFilter, StoredRequest } from './store.ts';

/** Of each account at the latest, unless somebody reads them before. */
const WAIT_MS = 10_000;
const SECOND_MS = 1_000;

export interface ArchivedPage {
  /** Newest first. */
  readonly rows: readonly StoredRequest[];
  /** The search took its time: the list goes on before this number. Null: it is complete. */
  readonly leftBefore: bigint | null;
}

/** Where short calls are kept. It stands on floors above this one, so its module hands it in. */
export interface CallArchive {
  write(rows: readonly RequestRow[]): Promise<void>;
  /** Up to `limit` calls with numbers below `before`; null: the newest. */
  before(
    accountId: string,
    before: bigint | null,
    asked: { readonly filter: RequestFilter; readonly limit: number },
    signal: AbortSignal,
  ): Promise<ArchivedPage>;
  find(accountId: string, requestId: string, signal: AbortSignal): Promise<StoredRequest | null>;
  follow(accountId: string, filter: RequestFilter, signal: AbortSignal): ArchiveFollower;
}

export interface ArchiveFollower {
  /** Settles what is new from now on. */
  begin(): Promise<void>;
  /** Calls that were written since it began, or since the last read, oldest first. */
  read(): AsyncIterable<StoredRequest>;
}

interface Waiting {
  readonly calls: LoggedCall[];
  readonly sinceMs: number;
}

interface Second {
  count: number;
  kept: number;
}

export class ShortCalls {
  readonly #bounds: Pick<Admission, 'all' | 'account'>;
  #waiting = new Map<string, Waiting>();
  #size = 0;
  #startMs = Number.NEGATIVE_INFINITY;
  /** Calls of each account in this second, and in the one before. */
  #second = new Map<string, Second>();
  #before = new Map<string, Second>();

  constructor(bounds: Pick<Admission, 'all' | 'account'>) {
    this.#bounds = bounds;
  }

  /** Whether the next call of the account is one of its sample, which is spread over the second as far as the second before tells. */
  samples(accountId: string, recordsAll: boolean): boolean {
    const second = this.#secondOf(accountId);
    second.count += 1;
    const perSecond = recordsAll ? this.#bounds.account.loggedCalls : this.#bounds.account.shortCallsPerSecond;
    if (second.kept >= perSecond || this.#isFull(accountId)) return false;
    const step = Math.ceil((this.#before.get(accountId)?.count ?? 0) / perSecond);
    if (step > 1 && second.count % step !== 0) return false;
    second.kept += 1;
    return true;
  }

  #secondOf(accountId: string): Second {
    const nowMs = performance.now();
    if (nowMs - this.#startMs >= SECOND_MS) {
      this.#before = nowMs - this.#startMs < 2 * SECOND_MS ? this.#second : new Map();
      this.#second = new Map();
      this.#startMs = nowMs;
    }
    let second = this.#second.get(accountId);
    if (second === undefined) {
      second = { count: 0, kept: 0 };
      this.#second.set(accountId, second);
    }
    return second;
  }

  #isFull(accountId: string): boolean {
    const { all, account } = this.#bounds;
    const own = this.#waiting.get(accountId)?.calls.length ?? 0;
    return this.#size >= all.shortCallsWaiting || own >= account.shortCallsWaiting;
  }

  /** False: it is beyond the bounds, and given up. */
  add(call: LoggedCall): boolean {
    if (this.#isFull(call.accountId)) return false;
    const waiting = this.#waiting.get(call.accountId) ?? { calls: [], sinceMs: performance.now() };
    waiting.calls.push(call);
    this.#waiting.set(call.accountId, waiting);
    this.#size += 1;
    return true;
  }

  /** What has waited long enough, or fills half of the room of its account. */
  takeDue(): LoggedCall[] {
    const half = this.#bounds.account.shortCallsWaiting / 2;
    const dueMs = performance.now() - WAIT_MS;
    const due = [...this.#waiting].filter(([, { calls, sinceMs }]) => sinceMs <= dueMs || calls.length >= half);
    return due.flatMap(([accountId]) => this.takeOf(accountId));
  }

  takeOf(accountId: string): LoggedCall[] {
    const calls = this.#waiting.get(accountId)?.calls ?? [];
    this.#waiting.delete(accountId);
    this.#size -= calls.length;
    return calls;
  }

  takeAll(): LoggedCall[] {
    return [...this.#waiting.keys()].flatMap((accountId) => this.takeOf(accountId));
  }
}
