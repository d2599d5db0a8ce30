// Instants as callers write them: a date (its start in UTC) or a date and time with an offset (RFC 3339).

const PATTERN = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds; null when the text is neither form or no day of the calendar. */
export function parseInstant(text: string): number | null {
  const match = PATTERN.exec(text);
  const [, date = '', time] = match ?? [];
  const day = new Date(`${date}T00:00:00Z`);
  // 30 February is read as a day in March: only a date that stays itself is one.
  if (match === null || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return null;
  const ms = time === undefined ? day.getTime() : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
