// The request log: outcomes of an account's calls, for debugging. Rows are buffered in this process and written together once a second. No money
// or effect is recorded here alone, and rows that a killed process had not written are lost. Each account has a share of the buffer and all
// accounts a common bound, so an account that fails constantly loses only its own rows. Short calls that succeed go to the archive.
import type { Database } from '../../db/database.ts';
import type { Admission } from '../admission.ts';
import { clockNow } from '../database-clock.ts';
import { type LoggedCall, rowsOf } from './entry.ts';
import { readRecording } from './recording.ts';
import { type CallArchive, ShortCalls } from './short-calls.ts';
import { addRows, addUnkept, findRequest, type StoredRequest, trim } from './store.ts';

/** An account's rows beyond what is kept are removed after so many new ones. */
const TRIM_EVERY = 1_000;
const ACCOUNTS_COUNTED = 10_000;
const RECORDING_READ_EVERY_MS = 5_000;

type ShortCallsAsked = 'due' | 'all' | { readonly accountId: string };

export class RequestLog {
  readonly #db: Database;
  readonly #bounds: Pick<Admission, 'all' | 'account'>;
  #waiting = new Map<string, LoggedCall[]>();
  #size = 0;
  #dropped = new Map<string, number>();
  readonly #short: ShortCalls;
  #sampledOut = new Map<string, number>();
  #archive: CallArchive | null = null;
  /** Rows of an account since its last trim; one that is new here is trimmed at once. */
  readonly #written = new Map<string, number>();
  /** Accounts that have all calls recorded, and until when by performance.now(). */
  #recording: ReadonlyMap<string, number> = new Map();
  #recordingReadMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();
  #writingShort: Promise<void> = Promise.resolve();
  #queuedShort: Promise<void> | null = null;
  #askedShort: ShortCallsAsked[] = [];
  #queued: Promise<void> | null = null;

  constructor(db: Database, bounds: Pick<Admission, 'all' | 'account'>) {
    this.#db = db;
    this.#bounds = bounds;
    this.#short = new ShortCalls(bounds);
  }

  /** Where short calls are kept; there once the modules have started. */
  get archive(): CallArchive {
    if (this.#archive === null) throw new Error('the request log has no archive yet');
    return this.#archive;
  }

  set archive(archive: CallArchive) {
    this.#archive = archive;
  }

  /** Whether the log keeps the next short call of the account: all of a few, and of many a sample. */
  samples(accountId: string): boolean {
    const isKept = this.#short.samples(accountId, this.#recordsAll(accountId));
    if (!isKept) this.#sampleOut(accountId);
    return isKept;
  }

  addShort(call: LoggedCall): void {
    if (!this.#short.add(call)) this.#sampleOut(call.accountId);
  }

  #sampleOut(accountId: string, count = 1): void {
    this.#sampledOut.set(accountId, (this.#sampledOut.get(accountId) ?? 0) + count);
  }

  #recordsAll(accountId: string): boolean {
    return this.#recording.size > 0 && (this.#recording.get(accountId) ?? 0) > performance.now();
  }

  /** Whether the account has its share already: its next call is only counted, and nothing of it need be looked at. */
  isFull(accountId: string): boolean {
    const isFull = (this.#waiting.get(accountId)?.length ?? 0) >= this.#bounds.account.loggedCalls;
    if (isFull) this.#drop(accountId);
    return isFull;
  }

  add(call: LoggedCall): void {
    const rows = this.#waiting.get(call.accountId) ?? [];
    if (!this.#hasRoom(rows) && !(call.isAudit && this.#makeRoom(rows))) {
      this.#drop(call.accountId);
      return;
    }
    rows.push(call);
    this.#waiting.set(call.accountId, rows);
    this.#size += 1;
  }

  #hasRoom(rows: readonly LoggedCall[]): boolean {
    const { all, account } = this.#bounds;
    if (rows.length >= account.loggedCalls) return false;
    if (this.#size < all.loggedCalls) return true;
    // Whoever has fewer takes the place of whoever has most.
    const most = [...this.#waiting.values()].reduce<LoggedCall[]>((a, b) => (b.length > a.length ? b : a), []);
    return most.length > rows.length + 1 && this.#makeRoom(most);
  }

  /** Gives up the oldest row that is no write of the account itself. */
  #makeRoom(rows: LoggedCall[]): boolean {
    const at = rows.findIndex(({ isAudit }) => !isAudit);
    const gone = at === -1 ? undefined : rows.splice(at, 1)[0];
    if (gone === undefined) return false;
    this.#size -= 1;
    this.#drop(gone.accountId);
    return true;
  }

  #drop(accountId: string, count = 1): void {
    this.#dropped.set(accountId, (this.#dropped.get(accountId) ?? 0) + count);
  }

  /** A call of the account, wherever it is kept; null: it is not in the log. */
  async find(accountId: string, requestId: string, signal: AbortSignal): Promise<StoredRequest | null> {
    return (
      (await findRequest(this.#db, accountId, requestId)) ?? (await this.archive.find(accountId, requestId, signal))
    );
  }

  /**
   * Writes short calls that are due, those of the account, or all. A write under way ends first, so calls that it had taken are written too;
   * all who asked meanwhile share the next write. When it fails it rejects, and its calls wait on.
   */
  flushShort(asked: ShortCallsAsked): Promise<void> {
    this.#askedShort.push(asked);
    if (this.#queuedShort !== null) return this.#queuedShort;
    const turn = this.#writingShort.then(() => {
      this.#queuedShort = null;
      return this.#flushShort();
    });
    this.#queuedShort = turn;
    this.#writingShort = turn.catch(() => undefined);
    return turn;
  }

  async #flushShort(): Promise<void> {
    const calls = this.#askedShort.splice(0).flatMap((asked) => this.#takeShort(asked));
    if (calls.length === 0) return;
    try {
      await this.archive.write(await rowsOf(calls, await clockNow(this.#db)));
    } catch (error) {
      for (const call of calls) this.addShort(call);
      throw error;
    }
  }

  #takeShort(asked: ShortCallsAsked): LoggedCall[] {
    if (asked === 'due') return this.#short.takeDue();
    return asked === 'all' ? this.#short.takeAll() : this.#short.takeOf(asked.accountId);
  }

  /** Writes all else that waits. What could not be written waits on; then it rejects. */
  flush(): Promise<void> {
    if (this.#queued !== null) return this.#queued;
    const turn = this.#writing.then(() => {
      this.#queued = null;
      return this.#flush();
    });
    this.#queued = turn;
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Reads which accounts record all: every few seconds, and when that `hasChanged`. */
  async readRecording(hasChanged = false): Promise<void> {
    if (!hasChanged && performance.now() - this.#recordingReadMs < RECORDING_READ_EVERY_MS) return;
    this.#recordingReadMs = performance.now();
    this.#recording = await readRecording(this.#db);
  }

  async #flush(): Promise<void> {
    if (this.#size === 0 && this.#dropped.size === 0 && this.#sampledOut.size === 0) return;
    const calls = [...this.#waiting.values()].flat();
    const [dropped, sampledOut] = [this.#dropped, this.#sampledOut];
    const unkept = [...new Set([...dropped.keys(), ...sampledOut.keys()])].map((accountId) => ({
      accountId,
      dropped: dropped.get(accountId) ?? 0,
      sampledOut: sampledOut.get(accountId) ?? 0,
    }));
    this.#waiting = new Map();
    this.#size = 0;
    this.#dropped = new Map();
    this.#sampledOut = new Map();
    try {
      const nowMs = await clockNow(this.#db);
      for (const rows of this.#db.byTransaction(await rowsOf(calls, nowMs)))
        await this.#db.transaction((tx) => addRows(tx, rows), rows[0]?.accountId);
      for (const counts of this.#db.byTransaction(unkept))
        await this.#db.transaction((tx) => addUnkept(tx, counts, nowMs), counts[0]?.accountId);
    } catch (error) {
      // Those that are written have their place already, and are not written twice.
      for (const call of calls) this.add(call);
      for (const [accountId, count] of dropped) this.#drop(accountId, count);
      for (const [accountId, count] of sampledOut) this.#sampleOut(accountId, count);
      throw error;
    }
    for (const [accountId, { length }] of Map.groupBy(calls, (call) => call.accountId))
      await this.#trim(accountId, length);
  }

  async #trim(accountId: string, added: number): Promise<void> {
    const since = (this.#written.get(accountId) ?? TRIM_EVERY) + added;
    this.#written.delete(accountId);
    this.#written.set(accountId, since < TRIM_EVERY ? since : 0);
    const [oldest] = this.#written.keys();
    if (this.#written.size > ACCOUNTS_COUNTED && oldest !== undefined) this.#written.delete(oldest);
    if (since >= TRIM_EVERY) await trim(this.#db, accountId);
  }
}
