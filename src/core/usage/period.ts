// The period of a usage question in whole buckets, and the buckets themselves. UTC throughout.
import { instantForm, parseInstant } from '../../lib/instant.ts';
import { DAY_MS, HOUR_MS, startOfDay, startOfMonth, startOfNextMonth } from '../../lib/time.ts';
import { invalidField, problem } from '../../problems/problem.ts';

export type Granularity = 'hour' | 'day' | 'month';

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Most points of one answer (contract §3): 31 days by the hour, 400 days, 60 months. */
export const POINTS_MAX: Readonly<Record<Granularity, number>> = { hour: 744, day: 400, month: 60 };
/** Points when no start is given. */
export const POINTS_DEFAULT: Readonly<Record<Granularity, number>> = { hour: 24, day: 30, month: 12 };

/** An optional `from` or `to` of a list. Throws VALIDATION_FAILED. */
export function instantField(param: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseInstant(text);
  if (ms === null) throw invalidField(param, 'format', `${param} must be ${instantForm}.`);
  return ms;
}

/** Throws INVALID_REQUEST when both are given and the start is not before the end. */
export function checkOrder(fromMs: number | null, toMs: number | null): void {
  if (fromMs !== null && toMs !== null && fromMs >= toMs)
    throw problem('INVALID_REQUEST', { message: '`from` must be before `to`.', param: 'from' });
}

/** Whole hours; without bounds the calendar month of `nowMs`. */
export function usagePeriod(fromMs: number | null, toMs: number | null, nowMs: number): Period {
  checkOrder(fromMs, toMs);
  if (fromMs === null && toMs === null) return { fromMs: startOfMonth(nowMs), toMs: startOfNextMonth(nowMs) };
  const end = endOf('hour', toMs ?? Math.max(nowMs, (fromMs ?? nowMs) + 1));
  return { fromMs: startOf('hour', fromMs ?? startOfMonth(end - 1)), toMs: end };
}

/** Whole buckets up to the running one at the latest. Throws VALIDATION_FAILED when they are more than one answer holds. */
export function seriesPeriod(
  granularity: Granularity,
  fromMs: number | null,
  toMs: number | null,
  nowMs: number,
): Period {
  checkOrder(fromMs, toMs);
  const running = endOf(granularity, nowMs + 1);
  const end = toMs === null ? running : Math.min(endOf(granularity, toMs), running);
  const start =
    fromMs === null ? stepBack(granularity, end, POINTS_DEFAULT[granularity]) : startOf(granularity, fromMs);
  if (stepBack(granularity, end, POINTS_MAX[granularity]) > start) {
    const most = `${POINTS_MAX[granularity]} ${granularity}s`;
    throw invalidField(
      'from',
      'range',
      `One answer covers at most ${most}: choose a later start or a coarser granularity.`,
    );
  }
  return { fromMs: start, toMs: end };
}

/** Starts of the buckets of a period made by `seriesPeriod`. */
export function bucketsOf(granularity: Granularity, { fromMs, toMs }: Period): number[] {
  const starts: number[] = [];
  for (let ms = fromMs; ms < toMs; ms = next(granularity, ms)) starts.push(ms);
  return starts;
}

export function startOf(granularity: Granularity, ms: number): number {
  if (granularity === 'month') return startOfMonth(ms);
  return granularity === 'day' ? startOfDay(ms) : Math.floor(ms / HOUR_MS) * HOUR_MS;
}

/** The first bucket boundary at or after `ms`. */
function endOf(granularity: Granularity, ms: number): number {
  const start = startOf(granularity, ms);
  return start === ms ? ms : next(granularity, start);
}

function next(granularity: Granularity, start: number): number {
  if (granularity === 'month') return startOfNextMonth(start);
  return start + (granularity === 'day' ? DAY_MS : HOUR_MS);
}

function stepBack(granularity: Granularity, end: number, count: number): number {
  if (granularity === 'day') return end - count * DAY_MS;
  if (granularity === 'hour') return end - count * HOUR_MS;
  const date = new Date(end);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count, 1);
}
