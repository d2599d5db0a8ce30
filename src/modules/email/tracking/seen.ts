// Deduplication of tracking events: a link that is loaded again and again makes one event a minute in each process.

import { lruOf } from '../../../lib/lru.ts';
import { MINUTE_MS } from '../../../lib/time.ts';

const SEEN_MAX = 50_000;

export class Seen {
  readonly #seen = lruOf<true>(SEEN_MAX, { ttl: MINUTE_MS });

  isNew(what: string): boolean {
    if (this.#seen.has(what)) return false;
    this.#seen.set(what, true);
    return true;
  }
}
