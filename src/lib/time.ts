// Instants are milliseconds since the Unix epoch inside, ISO 8601 with milliseconds on the wire.

let lastMs = -1;
let lastText = '';

/** ISO 8601. The last result is kept: the answers of one batch share their instants. */
export function iso(ms: number): string {
  const whole = Math.floor(ms);
  if (whole !== lastMs) {
    lastText = new Date(whole).toISOString();
    lastMs = whole;
  }
  return lastText;
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

export function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

export function startOfNextMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
