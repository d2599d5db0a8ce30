// Data that a query reads: the matchers and the time range of each selector.
import type { Query } from './query.ts';

/** Steps from `startMs` to `endMs`, both included; an instant query is a range of one step. */
export interface QueryRange {
  readonly startMs: number;
  readonly endMs: number;
  /** Above 0. */
  readonly stepMs: number;
}

export interface Selection {
  readonly matchers: Query['selectors'][number]['matchers'];
  /** Both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** A sample stands for so long, unless a marker says that its series has ended. */
export const LOOKBACK_MS = 5 * 60_000;

/** In the order in which `evaluate` takes their series. */
export function selectionsOf({ selectors }: Query, { startMs, endMs }: QueryRange): Selection[] {
  return selectors.map(({ matchers, offsetMs, rangeMs }) => ({
    matchers,
    fromMs: startMs - offsetMs - (rangeMs ?? LOOKBACK_MS),
    toMs: endMs - offsetMs,
  }));
}

export function stepsOf({ startMs, endMs, stepMs }: QueryRange): number {
  return endMs < startMs ? 0 : Math.floor((endMs - startMs) / stepMs) + 1;
}
