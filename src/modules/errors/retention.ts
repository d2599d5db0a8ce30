// Retention of events by the number of their day: those of the last 90 days are there, whether or not older partitions are dropped yet.
import { sequenceAt } from '../../lib/sequence.ts';
import { DAY_MS } from '../../lib/time.ts';
import { RETENTION_DAYS } from './limits.ts';

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The first day whose events are kept at `nowMs`. */
export function firstKeptDay(nowMs: number): number {
  return dayOf(nowMs) - RETENTION_DAYS;
}

/** The first sequence number of a day. */
export function firstOfDay(day: number): bigint {
  return sequenceAt(day * DAY_MS);
}

/** The least number an event may have to be there at `nowMs`. */
export function firstKeptSeq(nowMs: number): bigint {
  return firstOfDay(firstKeptDay(nowMs));
}
