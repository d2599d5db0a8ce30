// Schedules of jobs. Expressions are those of the croner library, five fields only. Clock changes are handled by the kind of expression. Without
// `*` and steps in minute and hour (30 2 * * *), a local time that does not exist runs at the first moment after the gap. One that exists twice
// runs once, the first time. With them (*/30 * * * *) the job is an interval: nothing runs in a gap, and both hours of a repeated one are run
// through.
import { Cron } from 'croner';
import { invalidField } from '../../../problems/problem.ts';

export interface Recurrence {
  readonly cronExpr: string;
  /** IANA name. */
  readonly timezone: string;
}

/** A due slot, and the one after it; null when there is none. Epoch milliseconds. */
export interface DueSlot {
  readonly slotMs: number;
  readonly nextMs: number | null;
}

// Aliases such as @daily, `?` and the library's own `+` are left out: not every reader of an expression knows them.
const FIELDS = /^[0-9A-Za-z*,/#-]+(?: [0-9A-Za-z*,/#-]+){4}$/;
const SECOND_MS = 1_000;

/** The expression with single spaces. Throws VALIDATION_FAILED (cron_expr, timezone) when it is none, or never due. */
export function checkRecurrence(cronExpr: string, timezone: string): Recurrence {
  checkTimezone(timezone);
  const plain = cronExpr.trim().split(/\s+/).join(' ');
  if (!FIELDS.test(plain)) {
    const message = 'cron_expr must have five fields: minute, hour, day of month, month, day of week.';
    throw invalidField('cron_expr', 'format', message);
  }
  const recurrence = { cronExpr: plain, timezone };
  if (firstSlot(recurrence) === null) throw invalidField('cron_expr', 'never', 'cron_expr is never due.');
  return recurrence;
}

/** Throws VALIDATION_FAILED when `timezone` is no IANA name. */
export function checkTimezone(timezone: string): void {
  try {
    // Offsets such as +05:30, which Intl takes as well, begin with a sign.
    if (!/^[+-]/.test(timezone) && new Intl.DateTimeFormat('en', { timeZone: timezone })) return;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw invalidField('timezone', 'timezone', 'timezone must be a name of the IANA database, such as Europe/Berlin.');
}

function firstSlot(recurrence: Recurrence): number | null {
  try {
    return nextSlot(recurrence, Date.now());
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw invalidField('cron_expr', 'format', error.message.replace(/^CronPattern: /, 'cron_expr: '));
  }
}

/** The first slot after `afterMs`; null when there is none. */
export function nextSlot(recurrence: Recurrence, afterMs: number): number | null {
  return cronOf(recurrence).nextRun(new Date(afterMs))?.getTime() ?? null;
}

/** The next slots after `afterMs`, up to `count` of them. */
export function slotsAfter(recurrence: Recurrence, afterMs: number, count: number): number[] {
  return cronOf(recurrence)
    .nextRuns(count, new Date(afterMs))
    .map((slot) => slot.getTime());
}

/** The slot that is due at `nowMs` when `earliestMs` was the next one: of several that were missed, the latest. */
export function dueSlot(recurrence: Recurrence, earliestMs: number, nowMs: number): DueSlot {
  const cron = cronOf(recurrence);
  const second = cron.nextRun(new Date(earliestMs))?.getTime() ?? null;
  if (second === null || second > nowMs) return { slotMs: earliestMs, nextMs: second };
  // The library looks for slots before the given second, whatever its milliseconds.
  const latest = cron
    .previousRuns(2, new Date(nowMs + SECOND_MS))
    .map((slot) => slot.getTime())
    .find((slotMs) => slotMs <= nowMs);
  return { slotMs: Math.max(second, latest ?? second), nextMs: cron.nextRun(new Date(nowMs))?.getTime() ?? null };
}

function cronOf({ cronExpr, timezone }: Recurrence): Cron {
  return new Cron(cronExpr, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
}
