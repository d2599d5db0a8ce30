// Limits on concurrent and per-minute calls to a vendor (`limits` of the file), counted for all processes behind one port (WORKERS). Work
// that continues at the vendor after its call is counted by its attempts in the database, of all processes, read every second.
import type { Vendor } from '../vendors/file/port.ts';

const MINUTE_MS = 60_000;
/** When a place may be free again. */
const BUSY_RETRY_MS = 10_000;

/** All that is to be known of a vendor here; the rest of it holds its key. */
export type LimitedVendor = Pick<Vendor, 'id' | 'limits'>;
/** Attempts at work, by vendor. */
export type LiveAttempts = ReadonlyMap<string, number>;

export interface VendorLimits {
  /**
   * Takes a place for a call; when there is none, answers after how many milliseconds there may be. `end` must be called for each null.
   * `nowMs`: database time.
   */
  begin(vendor: LimitedVendor, nowMs: number): Promise<number | null> | number | null;
  /** The call is over. `keeps`: the vendor goes on working, and the database knows it. */
  end(vendor: LimitedVendor, keeps: boolean): void;
  /** Reads what is live. */
  read(live: () => Promise<LiveAttempts>): Promise<void>;
}

interface Use {
  /** Calls under way. */
  running: number;
  /** Calls that left work at the vendor since the last reading, by their number among all such calls. */
  kept: number[];
  /** When calls began, of the last minute. */
  readonly begun: number[];
}

/** Counts in this process. */
export class VendorLimitsHere implements VendorLimits {
  readonly #uses = new Map<string, Use>();
  #live: LiveAttempts = new Map();
  #keptInAll = 0;
  #readUpTo = 0;

  begin({ id, limits: { concurrent, perMinute } }: LimitedVendor, nowMs: number): number | null {
    const use = this.#useOf(id);
    while ((use.begun[0] ?? nowMs) <= nowMs - MINUTE_MS) use.begun.shift();
    if (perMinute !== null && use.begun.length >= perMinute) return (use.begun[0] as number) + MINUTE_MS - nowMs;
    const atWork = (this.#live.get(id) ?? 0) + use.kept.length + use.running;
    if (concurrent !== null && atWork >= concurrent) return BUSY_RETRY_MS;
    use.running += 1;
    if (perMinute !== null) use.begun.push(nowMs);
    return null;
  }

  end({ id, limits }: LimitedVendor, keeps: boolean): void {
    const use = this.#useOf(id);
    use.running -= 1;
    if (!keeps || limits.concurrent === null) return;
    this.#keptInAll += 1;
    use.kept.push(this.#keptInAll);
  }

  async read(live: () => Promise<LiveAttempts>): Promise<void> {
    const upTo = this.reading();
    this.adopt(upTo, await live());
  }

  /** A reading begins: it will know of everything kept until now. */
  reading(): number {
    return this.#keptInAll;
  }

  /** What a reading that began at `upTo` has found. Several processes read; one that knows less than another did says nothing new. */
  adopt(upTo: number, live: LiveAttempts): void {
    if (upTo < this.#readUpTo) return;
    this.#readUpTo = upTo;
    this.#live = live;
    for (const use of this.#uses.values()) use.kept = use.kept.filter((number) => number > upTo);
  }

  #useOf(vendor: string): Use {
    const use = this.#uses.get(vendor) ?? { running: 0, kept: [], begun: [] };
    this.#uses.set(vendor, use);
    return use;
  }
}
