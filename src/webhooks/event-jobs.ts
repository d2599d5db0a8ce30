// Job loop that numbers committed events and makes their deliveries. It runs at once for this process's own commits, and within a fifth of
// a second for those of another.

import { JobLoop } from '../core/background/job-loop.ts';
import type { Core } from '../core/core.ts';
import type { Metric } from '../core/process/metric.ts';
import { accountsWithEvents, sequenceSome } from './sequencer.ts';

const ACCOUNTS_AT_ONCE = 4;
/** Beside the search of the process (upkeep/due-search.ts). */
const INTERVAL_MS = 5_000;
// An account with very many events gives way to the others after some of them.
const ROUNDS_PER_TURN = 10;
// An account that failed is left alone for a while, so that it takes neither the place of the others nor the log.
const REST_MS = 1_000;

export function eventJobs(core: Pick<Core, 'db' | 'log' | 'eventTypes'>): JobLoop {
  const { db, log, eventTypes } = core;
  const running = new Set<string>();
  // From zero: Prometheus sees no increase of a series that begins with its first event.
  const live = [...eventTypes].filter(([, status]) => status === 'ga');
  const numbered = new Map(live.map(([type]) => [type, 0]));
  let last = '';
  const loop = new JobLoop<string>({
    name: 'events',
    log,
    concurrency: ACCOUNTS_AT_ONCE,
    intervalMs: INTERVAL_MS,
    metrics: () => [...numbered].map(eventsMetric),
    async take(room) {
      // Round and round through the accounts: none waits for those before it twice.
      const limit = room + running.size;
      const found = await accountsWithEvents(db, last, limit);
      if (found.length < limit && last !== '') found.push(...(await accountsWithEvents(db, '', limit)));
      const accounts = [...new Set(found)].filter((accountId) => !running.has(accountId)).slice(0, room);
      last = found.length < limit ? '' : (accounts.at(-1) ?? '');
      for (const accountId of accounts) running.add(accountId);
      return accounts;
    },
    async run(accountId, signal) {
      try {
        for (let round = 0; round < ROUNDS_PER_TURN && !signal.aborted; round += 1) {
          const { types, mayBeMore } = await sequenceSome(db, accountId);
          for (const type of types) numbered.set(type, (numbered.get(type) ?? 0) + 1);
          if (!mayBeMore) break;
        }
        running.delete(accountId);
        loop.wake();
      } catch (error) {
        setTimeout(() => running.delete(accountId), REST_MS).unref();
        throw error;
      }
    },
  });
  db.onHint('events', () => loop.wake());
  return loop as JobLoop;
}

function eventsMetric([type, value]: [string, number]): Metric {
  return { name: 'qm_events_total', help: 'Events that this process gave a number, by type.', labels: { type }, value };
}
