// Rate by network of what nobody needs a key for, in each process.
import type { LRUCache } from 'lru-cache';
import { lruOf } from '../lib/lru.ts';
import { networkOf } from '../lib/network-of.ts';
import { problem } from '../problems/problem.ts';

const WINDOW_MS = 60_000;

export class AddressRate {
  readonly #windows: LRUCache<string, { startMs: number; times: number }>;
  readonly #timesMax: number;

  constructor(timesMax: number, addressesMax: number) {
    this.#windows = lruOf(addressesMax);
    this.#timesMax = timesMax;
  }

  /** Counts one more. Throws RATE_LIMITED when the address has had too many in a minute. */
  count(address: string, nowMs: number = performance.now()): void {
    const network = networkOf(address);
    let window = this.#windows.get(network);
    if (window === undefined || nowMs - window.startMs >= WINDOW_MS) {
      window = { startMs: nowMs, times: 0 };
      this.#windows.set(network, window);
    }
    window.times += 1;
    if (window.times > this.#timesMax)
      throw problem('RATE_LIMITED', { retryAfterMs: Math.ceil(WINDOW_MS - (nowMs - window.startMs)) });
  }
}
