// A queue as the API tells it, and what is said of it in words.

import { badge } from '../../../kit/console/table.ts';
import { durationText } from '../../../kit/console/text.ts';
import type { DataOf, Read } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import type { stats } from '../capabilities/stats.ts';

export type Queue = DataOf<typeof get>;

export type Stats = DataOf<typeof stats>;

/** What the pages of a queue show. */
export interface Standing {
  readonly queue: Queue;
  /** Null: the visitor may not read them. */
  readonly stats: Read<Stats> | null;
  /** Queues that have it as their dead-letter queue. */
  readonly sources: readonly Queue[];
}

/** Leases and delays end by time alone, which no tick tells: a page that shows some looks again. */
const TIME_SECONDS = 10;

export function queuePath(name: string): string {
  return `/queues/${encodeURIComponent(name)}`;
}

/** What most needs somebody's eye comes first. `holdsDead`: it is the dead-letter queue of others, whose messages wait for nobody. */
export function stateOf(stats: Stats, holdsDead: boolean): Html {
  if (stats.dlq_count > 0) return badge('dead letters', 'critical');
  if (stats.in_flight_count > 0) return badge('working', 'good');
  if (stats.available_count > 0) return holdsDead ? badge('holds dead letters') : badge('waiting', 'warning');
  return badge(stats.delayed_count > 0 ? 'delayed' : 'empty');
}

/** All messages of the queue, those that come later too. */
export function messagesOf({ message_count: now, delayed_count: later }: Stats): number {
  return now + later;
}

/** Undefined: only what is told by ticks can change. */
export function againSeconds(stats: readonly (Stats | null)[]): number | undefined {
  const isMoving = stats.some((each) => each !== null && each.in_flight_count + each.delayed_count > 0);
  return isMoving ? TIME_SECONDS : undefined;
}

/** Empty where there is no message. */
export function ageOf(stats: Stats): string {
  return messagesOf(stats) === 0 ? '' : durationText(stats.oldest_message_age_seconds);
}
