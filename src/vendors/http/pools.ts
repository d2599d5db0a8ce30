// Connection pools: one undici pool for each (scheme, host, port, checked address). A socket is only reused for the address that was checked
// for this very request. Idle sockets close after seconds. Idle pools are dropped soon after, and at once beyond a maximum. So ten
// thousand endpoints cost no memory, while many deliveries to one receiver share connections.
import type { Pool } from 'undici';
import { type Pin, pinnedConnector } from './connector.ts';
import type { OutboundLimits } from './limits.ts';

interface Kept {
  readonly pool: Pool;
  inFlight: number;
  idleSinceMs: number;
}

export interface Held {
  readonly pool: Pool;
  /** To be called once. */
  release(): void;
}

/** An idle pool outlives its sockets by this, so that they close by themselves. */
const SWEEP_MS = 2_000;

export class Pools {
  readonly #limits: OutboundLimits;
  /** In the order of last use, the oldest first. No cache of a library: a pool in use must stay, and an idle one is closed. */
  readonly #kept = new Map<string, Kept>();
  #undici: Promise<typeof import('undici')> | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(limits: OutboundLimits) {
    this.#limits = limits;
  }

  /** The pool of the pin; it is not closed before `release` is called. */
  async hold(pin: Pin): Promise<Held> {
    // 28 MiB of memory and 120 ms once (Node 24, measured): a process that never delivers anything does without.
    this.#undici ??= import('undici');
    const { Pool: UndiciPool } = await this.#undici;
    const key = `${pin.secure ? 'https' : 'http'}|${pin.host}|${pin.port}|${pin.address}`;
    const kept = this.#kept.get(key) ?? { pool: this.#open(UndiciPool, pin), inFlight: 0, idleSinceMs: 0 };
    kept.inFlight += 1;
    // Deleted and set again: the map's order is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return { pool: kept.pool, release: () => this.#release(kept) };
  }

  #release(kept: Kept): void {
    kept.inFlight -= 1;
    kept.idleSinceMs = performance.now();
    this.#shrink();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }

  // As many sockets as requests at once: whoever delivers bounds these, and a queue in here would let one slow answer fail others.
  #open(UndiciPool: typeof Pool, pin: Pin): Pool {
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    const { connectMs, idleMs, answerHeaderBytesMax } = this.#limits;
    const host = pin.host.includes(':') ? `[${pin.host}]` : pin.host;
    return new UndiciPool(`${pin.secure ? 'https' : 'http'}://${host}:${pin.port}`, {
      connections: null,
      connect: pinnedConnector(pin, connectMs),
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: answerHeaderBytesMax,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
    });
  }

  #sweep(): void {
    const untilMs = performance.now() - this.#limits.idleMs - SWEEP_MS;
    this.#drop(this.#idle().filter(([, kept]) => kept.idleSinceMs < untilMs));
    if (this.#kept.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #shrink(): void {
    if (this.#kept.size <= this.#limits.idlePoolsMax) return;
    const idle = this.#idle();
    this.#drop(idle.slice(0, Math.max(0, idle.length - this.#limits.idlePoolsMax)));
  }

  #idle(): [string, Kept][] {
    return [...this.#kept].filter(([, kept]) => kept.inFlight === 0);
  }

  #drop(entries: readonly [string, Kept][]): void {
    for (const [key, { pool }] of entries) {
      this.#kept.delete(key);
      void pool.destroy();
    }
  }
}
