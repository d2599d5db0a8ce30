// Thread pool for long tasks of accounts; all such pools use this class, so all keep two rules. A thread that exceeds the time of a task is
// ended from outside. Of two threads or more, one account never holds all.
import type { Transferable } from 'node:worker_threads';
import type { FairQueueBounds } from '../lib/fair-queue.ts';
import { type ThreadBounds, Threads, type ThreadTalk } from '../lib/threads.ts';
import { AccountPlaces } from './account-places.ts';

export interface PoolBounds extends ThreadBounds {
  /** Tasks at once. */
  readonly threads: number;
  /** Of one task. What the thread tells of its progress begins its time anew. */
  readonly msMax: number;
  /** From then on, where that is another time. */
  readonly progressMsMax?: number;
  /** Until a thread that tells that it has begun does so, besides; absent: none. A thread takes long to start on a busy machine. */
  readonly beginMsMax?: number;
  /**
   * Absent: the time is by the clock. Else it is processor time, which a busy machine does not shorten, and so many times as much by the clock. What
   * the whole process takes counts: it bounds what the thread takes.
   */
  readonly busyShare?: number;
  /** Tasks that wait; absent: as lists of what waits are bounded. */
  readonly waiting?: FairQueueBounds;
}

export type Performed<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** Its thread was ended: it took longer than its time, or the machine was too busy to do it, or it took more memory than its bound. */
  | { readonly kind: 'late' | 'busy' | 'memory' };

interface PerformOptions<Progress, Question, Reply> {
  readonly talk?: ThreadTalk<Progress, Question, Reply>;
  /** What is handed over with the task, without a copy. */
  readonly transfer?: readonly Transferable[];
  /** Less time than all tasks have. */
  readonly msMax?: number;
}

export type Perform<Task, Answer, Progress = never, Question = never, Reply = never> = (
  task: Task,
  options?: PerformOptions<Progress, Question, Reply>,
) => Promise<Performed<Answer>>;

/** Where tasks of accounts are done in turns. */
export interface TaskPool<Task, Answer, Progress = never, Question = never, Reply = never> {
  /**
   * Runs `work` when the account has a place: what waits is not in memory yet. `perform` does a task, one at a time. Answers and throws what `work`
   * does. Throws the reason of `signal`, and CONCURRENCY_LIMITED or OVERLOADED when too many wait.
   */
  run<T>(
    accountId: string,
    signal: AbortSignal | null,
    work: (perform: Perform<Task, Answer, Progress, Question, Reply>) => Promise<T>,
  ): Promise<T>;
  /** Ends what waits for work. */
  close(): Promise<void>;
}

const LOOK_MS_MIN = 100;

export class AccountThreads<Task, Answer, Progress = never, Question = never, Reply = never>
  implements TaskPool<Task, Answer, Progress, Question, Reply>
{
  readonly #threads: Threads<Task, Answer, Progress, Question, Reply>;
  readonly #places: AccountPlaces;
  readonly #msMax: number;
  readonly #progressMsMax: number | null;
  readonly #beginMsMax: number;
  readonly #busyShare: number | null;

  constructor(source: URL, bounds: PoolBounds) {
    this.#threads = new Threads(source, bounds);
    this.#places = new AccountPlaces(bounds.threads, bounds);
    this.#msMax = bounds.msMax;
    this.#progressMsMax = bounds.progressMsMax ?? null;
    this.#beginMsMax = bounds.beginMsMax ?? 0;
    this.#busyShare = bounds.busyShare ?? null;
  }

  run<T>(
    accountId: string,
    signal: AbortSignal | null,
    work: (perform: Perform<Task, Answer, Progress, Question, Reply>) => Promise<T>,
  ): Promise<T> {
    return this.#places.run(accountId, signal, () => work((task, options) => this.#perform(task, signal, options)));
  }

  /** Threads that there are now. */
  get count(): number {
    return this.#threads.count;
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #perform(
    task: Task,
    signal: AbortSignal | null,
    { talk = {}, transfer = [], msMax = this.#msMax }: PerformOptions<Progress, Question, Reply> = {},
  ): Promise<Performed<Answer>> {
    signal?.throwIfAborted();
    const late = new AbortController();
    const end = (why: 'late' | 'busy') => late.abort(why);
    const ms = Math.min(Math.max(msMax, 1), this.#msMax);
    let stopClock = this.#clock(ms + this.#beginMsMax, end);
    const onProgress = (progress: Progress) => {
      stopClock();
      stopClock = this.#clock(this.#progressMsMax ?? ms, end);
      talk.onProgress?.(progress);
    };
    const leave = () => late.abort();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      const answer = await this.#threads.run(task, late.signal, { ...talk, onProgress }, transfer);
      signal?.throwIfAborted();
      if (answer !== null) return { kind: 'answer', answer };
      return { kind: late.signal.aborted ? (late.signal.reason as 'late' | 'busy') : 'memory' };
    } finally {
      stopClock();
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Calls `end` when `ms` are over, unless it is stopped by what is answered. */
  #clock(ms: number, end: (why: 'late' | 'busy') => void): () => void {
    const busyShare = this.#busyShare;
    if (busyShare === null) {
      const timer = setTimeout(end, ms, 'late');
      return () => clearTimeout(timer);
    }
    const [begunMs, before] = [performance.now(), process.cpuUsage()];
    const look = () => {
      const { user, system } = process.cpuUsage(before);
      const leftMs = ms - (user + system) / 1_000;
      if (leftMs <= 0) end('late');
      else if (performance.now() - begunMs >= busyShare * ms) end('busy');
      else timer = setTimeout(look, Math.max(leftMs, LOOK_MS_MIN));
    };
    let timer = setTimeout(look, ms);
    return () => clearTimeout(timer);
  }
}
