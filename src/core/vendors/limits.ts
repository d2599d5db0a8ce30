// What we ask of a vendor at most, at once and in a minute (`limits` of the file). Work that goes on at the vendor after the call is counted
// by its attempts in the database, read every second; calls under way and calls of the last minute by each process, which has its share.
import type { Vendor } from '../../vendors/file/port.ts';

const MINUTE_MS = 60_000;
/** When a place may be free again. */
const BUSY_RETRY_MS = 10_000;

interface Use {
  /** Calls of this process under way. */
  running: number;
  /** Calls that left work at the vendor since the last reading. */
  kept: number;
  /** When calls began, of the last minute. */
  readonly begun: number[];
}

export class VendorLimits {
  readonly #processes: number;
  readonly #uses = new Map<string, Use>();
  #live: ReadonlyMap<string, number> = new Map();

  /** `processes`: how many share the limits. */
  constructor(processes: number) {
    this.#processes = processes;
  }

  /** Takes a place for a call; when there is none, answers after how many milliseconds there may be. */
  begin({ id, limits: { concurrent, perMinute } }: Pick<Vendor, 'id' | 'limits'>, nowMs: number): number | null {
    const use = this.#useOf(id);
    while ((use.begun[0] ?? nowMs) <= nowMs - MINUTE_MS) use.begun.shift();
    if (perMinute !== null && use.begun.length >= this.#share(perMinute)) {
      return (use.begun[0] as number) + MINUTE_MS - nowMs;
    }
    const isFull = (most: number) => (this.#live.get(id) ?? 0) + use.kept + use.running >= most;
    if (concurrent !== null && (use.running >= this.#share(concurrent) || isFull(concurrent))) return BUSY_RETRY_MS;
    use.running += 1;
    if (perMinute !== null) use.begun.push(nowMs);
    return null;
  }

  /** The call is over. `keeps`: the vendor goes on working. */
  end(vendor: string, keeps: boolean): void {
    const use = this.#useOf(vendor);
    use.running -= 1;
    if (keeps) use.kept += 1;
  }

  /** Reads what is live; what was kept before is among it. */
  async read(live: () => Promise<ReadonlyMap<string, number>>): Promise<void> {
    const before = [...this.#uses.values()].map((use) => [use, use.kept] as const);
    this.#live = await live();
    for (const [use, kept] of before) use.kept -= kept;
  }

  #share(of: number): number {
    return Math.ceil(of / this.#processes);
  }

  #useOf(vendor: string): Use {
    const use = this.#uses.get(vendor) ?? { running: 0, kept: 0, begun: [] };
    this.#uses.set(vendor, use);
    return use;
  }
}
