// Instants in callers' input: a date and time with an offset (RFC 3339). Without an offset the instant is ambiguous.

const PATTERN = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;
/** What a text must be, for errors. */
export const instantForm = 'a date and time with an offset, such as 2030-12-24T18:00:00Z';

// PostgreSQL writes years before 1 and after 9999 in another way; a day of room on either side is for offsets.
const EARLIEST_MS = Date.parse('0001-01-02T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T00:00:00Z') - 1;

/** Epoch milliseconds; null when the text has another form, is no day of the calendar, or outside 0001-01-02 to 9999-12-30. */
export function parseInstant(text: string): number | null {
  const match = PATTERN.exec(text);
  const [, date = ''] = match ?? [];
  const day = new Date(`${date}T00:00:00Z`);
  // 30 February is read as a day in March: only a date that stays itself is one.
  if (match === null || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return null;
  const ms = Date.parse(text.toUpperCase());
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : null;
}
