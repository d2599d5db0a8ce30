// Background work of analytics: blocks are merged and expire, UUIDs expire, and events of deleted people are erased from blocks.
import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { DAY_MS } from '../../lib/time.ts';
import { SEEN_DAYS } from './limits.ts';
import { eraseDeleted } from './people/erase.ts';
import type { AnalyticsState } from './state.ts';

export function analyticsSweeps(state: AnalyticsState): readonly Sweep[] {
  const { core, store } = state;
  const forgetSeen = async () => {
    const nowMs = await clockNow(core.db);
    return dropOldestPartition(core.db, ['analytics.seen'], nowMs - (SEEN_DAYS + 1) * DAY_MS);
  };
  return [
    ...store.sweeps(),
    { name: 'analytics.seen', intervalMs: 60_000, run: forgetSeen },
    { name: 'analytics.erase', intervalMs: 30_000, run: (signal) => eraseDeleted(state, signal) },
  ];
}
