// Pacing and logging of refusals for overload or rate. Few are sent at once; more are held a moment, so that a client that repeats without pause
// waits instead of using the processor. The log gets one line a second, whatever their number.
import type { LRUCache } from 'lru-cache';
import type { Admission } from '../../core/admission.ts';
import type { Logger } from '../../core/process/logger.ts';
import { lruOf } from '../../lib/lru.ts';
import type { Problem } from '../../problems/problem.ts';

/** Refusals that a repetition at once would only repeat. */
const HELD: ReadonlySet<string> = new Set(['RATE_LIMITED', 'CONCURRENCY_LIMITED', 'OVERLOADED']);
const TELL_EVERY_MS = 1_000;

interface Pace {
  /** When the next refusal may go out. */
  nextMs: number;
}

interface Told {
  count: number;
  readonly cause: unknown;
}

export class Refusals {
  readonly #bounds: Admission;
  readonly #log: Logger;
  /** A forgotten one is told at once again. */
  readonly #paces: LRUCache<string, Pace>;
  readonly #all: Pace = { nextMs: 0 };
  readonly #told = new Map<string, Told>();
  #timer: NodeJS.Timeout | null = null;

  constructor(bounds: Admission, log: Logger) {
    this.#bounds = bounds;
    this.#paces = lruOf(bounds.all.refusedRemembered);
    this.#log = log;
  }

  /** How long the refusal is to be held, in milliseconds; mostly 0. `owner`: whose call it is, an account or an address. */
  holdMs(failure: Problem, owner: string, nowMs: number = performance.now()): number {
    if (!HELD.has(failure.code)) return 0;
    const { all, account } = this.#bounds;
    let pace = this.#paces.get(owner);
    if (pace === undefined) {
      pace = { nextMs: 0 };
      this.#paces.set(owner, pace);
    }
    const ownMs = waitOf(pace, account.refusalsPerSecond, all.refusalHeldMaxMs, nowMs);
    return Math.max(ownMs, waitOf(this.#all, all.refusalsPerSecond, all.refusalHeldMaxMs, nowMs));
  }

  /** One line a second for all that is refused as `kind`, such as the code of the calls, with the cause of the first. */
  tell(kind: string, cause?: unknown): void {
    const told = this.#told.get(kind);
    if (told === undefined) this.#told.set(kind, { count: 1, cause });
    else told.count += 1;
    this.#timer ??= setTimeout(() => this.flush(), TELL_EVERY_MS).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [kind, { count, cause }] of this.#told) {
      const reason = cause instanceof Error ? cause.message : undefined;
      this.#log.warn({ kind, count, reason }, `refused within a second: ${count} x ${kind}`);
    }
    this.#told.clear();
  }
}

/** A second's worth goes at once. */
function waitOf(pace: Pace, perSecond: number, maxMs: number, nowMs: number): number {
  pace.nextMs = Math.min(Math.max(pace.nextMs, nowMs - 1_000) + 1_000 / perSecond, nowMs + maxMs);
  return Math.max(0, pace.nextMs - nowMs);
}
