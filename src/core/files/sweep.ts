// Made files whose links have ended.
import { HOUR_MS, MINUTE_MS } from '../../lib/time.ts';
import type { Sweep } from '../background/sweeper/sweep.ts';
import type { Core } from '../context.ts';
import { MADE } from './links.ts';

/** A link works for an hour; clocks of machines may differ. */
const KEPT_MS = 2 * HOUR_MS;

export function madeFilesSweep({ assets }: Pick<Core, 'assets'>, keptMs = KEPT_MS): Sweep {
  return {
    name: 'files.made',
    intervalMs: 10 * MINUTE_MS,
    run: (signal) => assets.removeOld({ prefix: MADE, beforeMs: Date.now() - keptMs }, signal),
  };
}
