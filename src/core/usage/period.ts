// Splits the period of a usage query into whole buckets. UTC throughout.
import { timestamp } from '../../db/types.ts';
import { instantForm, parseInstant } from '../../lib/instant.ts';
import { DAY_MS, HOUR_MS, iso, startOfDay, startOfMonth, startOfNextMonth } from '../../lib/time.ts';
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

// More than the longest series of hours and of days.
const HOURS_KEPT_DAYS = 62;
const DAYS_KEPT_DAYS = 430;

/** From when on usage is kept by the hour, and by the day before that; by the month before that. */
export function keptFrom(nowMs: number): { readonly hoursMs: number; readonly daysMs: number } {
  return {
    hoursMs: startOfDay(nowMs - HOURS_KEPT_DAYS * DAY_MS),
    daysMs: startOfMonth(nowMs - DAYS_KEPT_DAYS * DAY_MS),
  };
}

/** How finely the usage of a moment is known. */
function grainOf(ms: number, nowMs: number): Granularity {
  const { hoursMs, daysMs } = keptFrom(nowMs);
  if (ms >= hoursMs) return 'hour';
  return ms >= daysMs ? 'day' : 'month';
}

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
    throw problem('INVALID_REQUEST', { message: 'from must be before to.', param: 'from' });
}

/** Whole hours, of old usage whole days or months; without bounds the calendar month of `nowMs`. */
export function usagePeriod(fromMs: number | null, toMs: number | null, nowMs: number): Period {
  checkOrder(fromMs, toMs);
  if (fromMs === null && toMs === null) return { fromMs: startOfMonth(nowMs), toMs: startOfNextMonth(nowMs) };
  const to = toMs ?? Math.max(nowMs, (fromMs ?? nowMs) + 1);
  const end = endOf(grainOf(to, nowMs), to);
  const from = fromMs ?? startOfMonth(end - 1);
  return { fromMs: startOf(grainOf(from, nowMs), from), toMs: end };
}

/**
 * Whole buckets up to the running one at the latest; none where the start is in the future. Throws VALIDATION_FAILED when they are more
 * than one answer holds.
 */
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
  const { hoursMs, daysMs } = keptFrom(nowMs);
  if ((granularity === 'hour' && start < hoursMs) || (granularity === 'day' && start < daysMs)) {
    throw invalidField(
      'from',
      'range',
      `Usage is kept by the hour from ${iso(hoursMs)} on, by the day from ${iso(daysMs)} on and by the month before: choose a later start or a coarser granularity.`,
    );
  }
  return { fromMs: start, toMs: Math.max(start, end) };
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
  const date = timestamp(end);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count, 1);
}
