// Sweep of made files whose links have expired.

import type { AssetsPart } from '../assets/assets.ts';
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import { MADE } from './links.ts';

/** A link works for an hour; clocks of machines may differ. */
const KEPT_MS = 2 * HOUR_MS;

export function madeFilesSweep({ assets }: AssetsPart, keptMs = KEPT_MS): Sweep {
  return {
    name: 'files.made',
    intervalMs: 10 * MINUTE_MS,
    run: (signal) => assets.removeOld({ prefix: MADE, beforeMs: Date.now() - keptMs }, signal),
  };
}
