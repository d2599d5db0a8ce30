// Limits of a connection: calls of a minute and of a day, which begin at their full minute and midnight, UTC.
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { ConnectionRow } from '../connections/row.ts';
import { ruleRefused } from '../connections/rule.ts';
import type { Counts } from '../connections/store.ts';

type Counted = Pick<
  ConnectionRow,
  'connection' | 'minute_at' | 'minute_calls' | 'day_at' | 'day_calls' | 'per_minute' | 'per_day'
>;

export function countsAt(row: Counted, nowMs: number): Counts {
  const [minuteStart, dayStart] = [nowMs - (nowMs % MINUTE_MS), nowMs - (nowMs % DAY_MS)];
  return {
    minuteStart,
    minuteCalls: row.minute_at === minuteStart ? row.minute_calls : 0,
    dayStart,
    dayCalls: row.day_at === dayStart ? row.day_calls : 0,
  };
}

export function withOneMore(counts: Counts): Counts {
  return { ...counts, minuteCalls: counts.minuteCalls + 1, dayCalls: counts.dayCalls + 1 };
}

/** Why no further call may be made now; null: it may. */
export function limitRefusal(
  { connection, per_minute, per_day }: Counted,
  counts: Counts,
  nowMs: number,
): Problem | null {
  if (per_minute !== null && counts.minuteCalls >= per_minute) {
    const most = `${per_minute.toLocaleString('en')} calls a minute`;
    return ruleRefused(
      'limit',
      `The connection ${connection} makes at most ${most}.`,
      counts.minuteStart + MINUTE_MS - nowMs,
    );
  }
  if (per_day !== null && counts.dayCalls >= per_day) {
    const most = `${per_day.toLocaleString('en')} calls a day (UTC)`;
    return ruleRefused(
      'limit',
      `The connection ${connection} makes at most ${most}.`,
      counts.dayStart + DAY_MS - nowMs,
    );
  }
  return null;
}
