// Retry delays, one policy for everything that retries: longer with every failure, up to a bound. Background work adds ±20 % jitter, so that
// work that failed together does not retry together.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** How much longer each pause is than the one before; 2 when absent. */
  readonly factor?: number;
}

const SPREAD = 0.2;

/** The pause after `failures` failures in a row, not spread: `firstMs` after the first. */
export function exactBackoffMs({ firstMs, maxMs, factor = 2 }: Backoff, failures: number): number {
  return Math.min(firstMs * factor ** Math.min(failures - 1, 30), maxMs);
}

/** `ms` ±20 %. `random` of [0, 1). */
export function jitteredMs(ms: number, random: number = Math.random()): number {
  return Math.round(ms * (1 - SPREAD + 2 * SPREAD * random));
}

/** The pause after `failures` failures in a row, spread. */
export function backoffMs(backoff: Backoff, failures: number, random?: number): number {
  return jitteredMs(exactBackoffMs(backoff, failures), random);
}
