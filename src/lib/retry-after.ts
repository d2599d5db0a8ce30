// Parser of Retry-After headers (RFC 9110, section 10.2.3).

const SECONDS = /^\d+$/;
const TIME = String.raw`\d{2}:\d{2}:\d{2}`;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
/** IMF-fixdate and the RFC 850 form; both end in GMT. */
const GMT_DATE = new RegExp(`^[A-Z][a-z]+, (?:\\d{2} ${MONTH} \\d{4}|\\d{2}-${MONTH}-\\d{2}) ${TIME} GMT$`);
/** asctime() names no zone: RFC 9110 says it is GMT. */
const ASCTIME_DATE = new RegExp(`^[A-Z][a-z]{2} ${MONTH} [ \\d]\\d ${TIME} \\d{4}$`);
/** No HTTP-date is longer. */
const LENGTH_MAX = 40;

/**
 * How long the receiver asks to be left alone, in milliseconds from `nowMs`; null when it does not say, or says nonsense. A date
 * in the past is 0. The caller bounds the wait.
 */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (text.length > LENGTH_MAX) return null;
  if (SECONDS.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const atMs = dateMs(text);
  return atMs === null ? null : Math.max(0, atMs - nowMs);
}

function dateMs(text: string): number | null {
  const zoned = GMT_DATE.test(text) ? text : ASCTIME_DATE.test(text) ? `${text} GMT` : null;
  const atMs = zoned === null ? Number.NaN : Date.parse(zoned);
  return Number.isNaN(atMs) ? null : atMs;
}
