// When a receiver that did not take something is called again, by push and by schedules.
import { exactBackoffMs } from '../../lib/backoff.ts';

const BACKOFF = { firstMs: 5_000, maxMs: 15 * 60_000 };
// A receiver that asks for no pause at all would be called in a tight loop.
const ASKED_MIN_MS = 1_000;

/**
 * Milliseconds until the next call: 5 s, doubled with every failure so far, at most 15 min; or what the receiver asked for by Retry-After
 * (`askedMs`), between 1 s and 15 min.
 */
export function retryDelayMs(failures: number, askedMs: number | null): number {
  if (askedMs !== null) return Math.min(Math.max(askedMs, ASKED_MIN_MS), BACKOFF.maxMs);
  return exactBackoffMs(BACKOFF, failures);
}
