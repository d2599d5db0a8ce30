// Rate limit by network on views of pages that need no session.
import type { LRUCache } from 'lru-cache';
import type { Admission } from '../../core/admission.ts';
import { networkOf } from '../../gateway/limits/failed-logins.ts';
import { lruOf } from '../../lib/lru.ts';
import { problem } from '../../problems/problem.ts';

const WINDOW_MS = 60_000;

export class PageViews {
  readonly #windows: LRUCache<string, { startMs: number; views: number }>;
  readonly #viewsMax: number;

  constructor({ address: { pagesPerMinute, addressesMax } }: Admission) {
    this.#windows = lruOf(addressesMax);
    this.#viewsMax = pagesPerMinute;
  }

  /** Counts a view. Throws RATE_LIMITED when the address has had too many. */
  count(address: string, nowMs: number = performance.now()): void {
    const network = networkOf(address);
    let window = this.#windows.get(network);
    if (window === undefined || nowMs - window.startMs >= WINDOW_MS) {
      window = { startMs: nowMs, views: 0 };
      this.#windows.set(network, window);
    }
    window.views += 1;
    if (window.views > this.#viewsMax)
      throw problem('RATE_LIMITED', { retryAfterMs: Math.ceil(WINDOW_MS - (nowMs - window.startMs)) });
  }
}
