// Background work of realtime: the poll for missed messages, cleanup after dead processes, and dropping partitions of messages past retention.
import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { lookForMissed, POLL_MS } from './feed/poll.ts';
import { HISTORY_SECONDS, NEAR_HISTORY_MS } from './limits.ts';
import type { RealtimeState } from './state.ts';

/** Whoever reads takes the border between the tables from a clock that may be a little behind. */
const MARGIN_MS = 600_000;

export function realtimeSweeps({ core: { db }, feeds, occupancy }: RealtimeState): Sweep[] {
  return [
    {
      name: 'realtime.missed',
      intervalMs: POLL_MS,
      perProcess: true,
      async run() {
        await lookForMissed(db, feeds, Date.now());
        return false;
      },
    },
    {
      name: 'realtime.abandoned',
      intervalMs: 1_000,
      run: (signal) => occupancy.sweep(signal),
    },
    {
      name: 'realtime.retention',
      intervalMs: 60_000,
      async run() {
        const nowMs = await clockNow(db);
        const near = await dropOldestPartition(db, ['realtime.message'], nowMs - NEAR_HISTORY_MS - MARGIN_MS);
        const keptMs = HISTORY_SECONDS.max * 1_000 + MARGIN_MS;
        return (await dropOldestPartition(db, ['realtime.kept_message'], nowMs - keptMs)) || near;
      },
    },
  ];
}
