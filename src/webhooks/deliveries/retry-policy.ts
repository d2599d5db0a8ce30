// Retry schedule of failed deliveries (contract of webhooks). Each figure is the pause before an attempt, counted from the end of the one
// before it; the first attempt is made at once. After the last one the delivery is exhausted.

import { jitteredMs } from '../../lib/backoff.ts';
import { HOUR_MS } from '../../lib/time.ts';
import type { RetryPolicy } from '../registrations/store.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** A receiver may ask for a longer pause, up to this many times the planned one. */
const RETRY_AFTER_FACTOR_MAX = 2;

export const retryPauses: Readonly<Record<RetryPolicy, readonly number[]>> = {
  default: [
    0,
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  aggressive: [
    0,
    SECOND_MS,
    5 * SECOND_MS,
    15 * SECOND_MS,
    30 * SECOND_MS,
    MINUTE_MS,
    2 * MINUTE_MS,
    5 * MINUTE_MS,
    10 * MINUTE_MS,
    15 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
    8 * HOUR_MS,
    12 * HOUR_MS,
  ],
};

/**
 * Milliseconds until the next attempt, null when there is none any more.
 * @param failures how many attempts have failed so far, the one just ended included.
 * @param retryAfterMs what the receiver asked for; null when it did not. Never makes the pause shorter.
 * @param random of [0, 1): the jitter of ±20 %.
 */
export function pauseAfter(
  policy: RetryPolicy,
  failures: number,
  retryAfterMs: number | null,
  random: number = Math.random(),
): number | null {
  const slotMs = retryPauses[policy][failures];
  if (slotMs === undefined) return null;
  return Math.max(jitteredMs(slotMs, random), Math.min(retryAfterMs ?? 0, slotMs * RETRY_AFTER_FACTOR_MAX));
}
