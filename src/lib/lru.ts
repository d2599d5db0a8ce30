// LRU caches. An LRUCache with `max` reserves its lists for that many entries at once, some 15 ms for 100,000. One bounded by size grows with
// its content.
import { LRUCache } from 'lru-cache';

interface Remembering {
  readonly ttl?: number;
  readonly ttlResolution?: number;
  readonly noDeleteOnStaleGet?: boolean;
}

/** A cache of at most so many entries by text. */
export function lruOf<Value extends {}>(entriesMax: number, options: Remembering = {}): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ ...options, maxSize: entriesMax, sizeCalculation: () => 1 });
}
