// Pauses before another try, one policy for all background work: doubled with every failure up to a bound, and spread by ±20 %,
// so that what failed together does not come again together.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

const SPREAD = 0.2;

/** The pause after `failures` failures in a row, not spread yet: `firstMs` after the first. */
export function doubledMs({ firstMs, maxMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
}

/** `ms` ±20 %. `random` of [0, 1). */
export function jitteredMs(ms: number, random: number = Math.random()): number {
  return Math.round(ms * (1 - SPREAD + 2 * SPREAD * random));
}

/** The pause after `failures` failures in a row. */
export function backoffMs(backoff: Backoff, failures: number, random?: number): number {
  return jitteredMs(doubledMs(backoff, failures), random);
}
