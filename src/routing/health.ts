// Circuit breakers of vendors (contract, vendors §3). The database rows are the truth: each process adds its counts and reads all rows
// every second, so all agree. Opening, closing and probing a vendor are each one conditional update.
import { performance } from 'node:perf_hooks';
import type { Logger } from '../core/process/logger.ts';
import type { Database } from '../db/database.ts';
import { exactBackoffMs } from '../lib/backoff.ts';
import { Waker } from '../lib/waker.ts';
import type { BreakerEffect, FailoverReason } from '../vendors/call/port.ts';
import {
  addCalls,
  type Calls,
  claimProbe,
  closeVendor,
  forgetOldCalls,
  type HealthRow,
  openIfFailing,
  openVendor,
  readHealth,
  reopenVendor,
  returnProbe,
  waitForVendor,
} from './health-store.ts';

/** How one call went. `reason`: why the vendor was left; null when it was not. */
export interface CallOutcome {
  readonly breaker: BreakerEffect;
  readonly reason: FailoverReason | null;
  /** It says nothing of the vendor, for it was given up: no call is counted, and whoever comes next tries the vendor. */
  readonly isUnknown?: boolean;
  /** The vendor goes on working when the call is over. */
  readonly keeps?: boolean;
  /** Of a call that was refused, for metrics; its reason when absent. */
  readonly told?: string;
}

export type Admittance =
  /** `reportOutcome` must be called, once. */
  | { readonly kind: 'go'; reportOutcome(outcome: CallOutcome): void }
  | { readonly kind: 'pass'; readonly reason: FailoverReason; readonly retryAfterMs: number };

/** Of a vendor for one capability. */
export interface Standing {
  readonly vendor: string;
  readonly capability: string;
  readonly isUp: boolean;
  readonly state: HealthRow['state'];
  readonly reason: FailoverReason | null;
  readonly sinceMs: number | null;
  readonly retryAtMs: number | null;
}

export interface HealthOptions {
  readonly db: Database;
  readonly log: Logger;
  /** What else is to be read so often. */
  readonly alsoRead?: () => Promise<void>;
}

/** How often the rows are read. */
const INTERVAL_MS = 1_000;
const BACKOFF = { firstMs: 15_000, maxMs: 5 * 60_000 };
/** A vendor may ask for less than this. */
const WAIT_MS_MAX = 3_600_000;
/** A call that tries a vendor and is not heard of for so long died with its process. */
const PROBE_MS_MAX = 60_000;

export class VendorHealth {
  readonly #options: HealthOptions;
  #rows: ReadonlyMap<string, HealthRow> = new Map();
  readonly #counted = new Map<string, Calls>();
  /** Database time less that of this process's clock. */
  #aheadMs = Date.now() - performance.now();
  #revision = 0;
  readonly #waker = new Waker();
  #isStopping = false;
  #life: Promise<void> = Promise.resolve();
  /** Changes of single vendors under way. */
  readonly #changes = new Set<Promise<void>>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Reads the rows, then goes on doing so. */
  async start(): Promise<void> {
    await this.sync();
    this.#life = this.#live();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#waker.wake();
    await this.#life;
    await this.awaitChanges();
  }

  /** Until what calls that have ended did to a vendor is written. */
  async awaitChanges(): Promise<void> {
    await Promise.all(this.#changes);
  }

  /** Grows when what is up or down changes. */
  get revision(): number {
    return this.#revision;
  }

  /** Database time as this process knows it. */
  get nowMs(): number {
    return performance.now() + this.#aheadMs;
  }

  isUp(vendor: string, capability: string): boolean {
    const row = this.#rows.get(keyOf(vendor, capability));
    return row === undefined || row.state === 'closed';
  }

  /** Why, and for how long, no call of the vendor may be made; null: one may, if only to see whether it answers again. */
  downFor(vendor: string, capability: string): { reason: FailoverReason; retryAfterMs: number } | null {
    const row = this.#rows.get(keyOf(vendor, capability));
    const leftMs = (row?.retry_at ?? 0) - this.nowMs;
    if (row === undefined || row.state === 'closed' || leftMs <= 0) return null;
    return { reason: row.reason ?? 'VENDOR_DOWN', retryAfterMs: leftMs };
  }

  /** Those that are not simply up. */
  standings(): Standing[] {
    return [...this.#rows.values()].map((row) => ({
      vendor: row.vendor,
      capability: row.capability,
      isUp: row.state === 'closed',
      state: row.state,
      reason: row.reason,
      sinceMs: row.since,
      retryAtMs: row.retry_at,
    }));
  }

  /** Whether a call may be made now. Of all calls that meet an open vendor whose pause is over, one goes. */
  async enter(vendor: string, capability: string): Promise<Admittance> {
    const row = this.#rows.get(keyOf(vendor, capability));
    if (row === undefined) return this.#go(vendor, capability, null);
    const leftMs = (row.retry_at ?? 0) - this.nowMs;
    const pass: Admittance = {
      kind: 'pass',
      reason: row.reason ?? 'VENDOR_DOWN',
      retryAfterMs: Math.max(leftMs, 1_000),
    };
    if (leftMs > 0) return pass;
    if (row.state === 'closed') return this.#go(vendor, capability, null);
    // Until the rows are read again: the other calls of this process need not ask.
    this.#know({ ...row, state: 'half_open', retry_at: this.nowMs + PROBE_MS_MAX });
    const openings = await claimProbe(this.#options.db, vendor, capability, PROBE_MS_MAX);
    return openings === null ? pass : this.#go(vendor, capability, openings);
  }

  /** Adds what was counted, opens what fails too often, and reads all rows. */
  async sync(): Promise<void> {
    const { db } = this.#options;
    await this.#write();
    const { rows, nowMs } = await readHealth(db);
    this.#aheadMs = nowMs - performance.now();
    this.#take(new Map(rows.map((row) => [keyOf(row.vendor, row.capability), row])));
    await this.#options.alsoRead?.();
  }

  async #write(): Promise<void> {
    const { db } = this.#options;
    const counted = [...this.#counted.values()];
    this.#counted.clear();
    if (counted.length === 0) return;
    try {
      await addCalls(db, counted);
    } catch (error) {
      for (const calls of counted) this.#count(calls);
      throw error;
    }
    for (const { vendor, capability, failures, reason } of counted) {
      if (failures > 0) await openIfFailing(db, vendor, capability, reason ?? 'VENDOR_DOWN', BACKOFF.firstMs);
    }
    await forgetOldCalls(db);
  }

  #go(vendor: string, capability: string, probeOpenings: number | null): Admittance {
    let hasEnded = false;
    return {
      kind: 'go',
      reportOutcome: (outcome) => {
        if (hasEnded) throw new Error('a call of a vendor has ended twice');
        hasEnded = true;
        this.#noteOutcome(vendor, capability, probeOpenings, outcome);
      },
    };
  }

  #noteOutcome(vendor: string, capability: string, probeOpenings: number | null, outcome: CallOutcome): void {
    const { breaker, reason, isUnknown = false } = outcome;
    const failed = breaker.kind === 'counts';
    if (isUnknown) {
      if (probeOpenings !== null) this.#change(() => returnProbe(this.#options.db, vendor, capability));
    } else if (breaker.kind === 'opens') {
      this.#open(vendor, capability, reason ?? 'VENDOR_DOWN', breaker.ms);
    } else if (breaker.kind === 'waits') {
      this.#wait(vendor, capability, reason ?? 'RATE_LIMIT_VENDOR', breaker.ms);
    } else if (probeOpenings !== null) {
      this.#noteProbe(vendor, capability, probeOpenings, failed, reason);
    } else {
      this.#count({ vendor, capability, calls: 1, failures: failed ? 1 : 0, reason });
      if (failed) this.#waker.wake();
    }
  }

  #noteProbe(
    vendor: string,
    capability: string,
    openings: number,
    failed: boolean,
    reason: FailoverReason | null,
  ): void {
    const { db } = this.#options;
    const pauseMs = exactBackoffMs(BACKOFF, openings + 1);
    this.#change(() =>
      failed
        ? reopenVendor(db, vendor, capability, reason ?? 'VENDOR_DOWN', pauseMs)
        : closeVendor(db, vendor, capability),
    );
  }

  #open(vendor: string, capability: string, reason: FailoverReason, ms: number): void {
    const nowMs = this.nowMs;
    this.#know({ vendor, capability, state: 'open', reason, since: nowMs, retry_at: nowMs + ms, openings: 1 });
    this.#change(() => openVendor(this.#options.db, vendor, capability, reason, ms));
  }

  #wait(vendor: string, capability: string, reason: FailoverReason, askedMs: number): void {
    const ms = Math.min(askedMs, WAIT_MS_MAX);
    const known = this.#rows.get(keyOf(vendor, capability));
    if (known === undefined || known.state === 'closed') {
      this.#know({ vendor, capability, state: 'closed', reason, since: null, retry_at: this.nowMs + ms, openings: 0 });
    }
    this.#change(() => waitForVendor(this.#options.db, vendor, capability, reason, ms));
  }

  /** This process acts on it at once; the row follows. */
  #know(row: HealthRow): void {
    this.#take(new Map([...this.#rows, [keyOf(row.vendor, row.capability), row]]));
  }

  #take(rows: ReadonlyMap<string, HealthRow>): void {
    const down = (all: ReadonlyMap<string, HealthRow>) =>
      JSON.stringify(
        [...all]
          .filter(([, { state }]) => state !== 'closed')
          .map(([key]) => key)
          .sort(),
      );
    if (down(rows) !== down(this.#rows)) this.#revision += 1;
    this.#rows = rows;
  }

  #count(calls: Calls): void {
    const key = keyOf(calls.vendor, calls.capability);
    const before = this.#counted.get(key);
    const sum = { calls: (before?.calls ?? 0) + calls.calls, failures: (before?.failures ?? 0) + calls.failures };
    this.#counted.set(key, { ...calls, ...sum, reason: calls.reason ?? before?.reason ?? null });
  }

  #change(write: () => Promise<void>): void {
    const change = write()
      .catch((err: unknown) => this.#options.log.warn({ err }, 'the standing of a vendor could not be written'))
      .finally(() => {
        this.#changes.delete(change);
        this.#waker.wake();
      });
    this.#changes.add(change);
  }

  async #live(): Promise<void> {
    while (!this.#isStopping) {
      await this.#waker.within(INTERVAL_MS);
      this.#waker.forget();
      await this.sync().catch((err: unknown) => {
        this.#options.log.warn({ err }, 'the standing of vendors could not be read; what was read before holds');
      });
    }
  }
}

function keyOf(vendor: string, capability: string): string {
  return `${vendor} ${capability}`;
}
