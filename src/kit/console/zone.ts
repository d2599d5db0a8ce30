// Conversion between instants and the wall clock of a time zone.
import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../lib/time.ts';

const WALL_CLOCK = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
// Making one takes as long as some twenty uses of it.
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 20 });

/** `2026-11-24 15:00:07 GMT+1`: the instant in any zone, and its name. */
export function inZone(instant: string, zone: string): string {
  if (zone === 'UTC') return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const of = partsIn(Date.parse(instant), zone);
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${of('timeZoneName')}`;
}

/** `2026-11-24T15:00`: as a field of a form has it (HTML, local date and time). */
export function wallClock(ms: number, zone: string): string {
  const of = partsIn(ms, zone);
  return `${of('year')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}

/**
 * When clocks there show that; null: it is no time. Of an hour that comes twice it is the second one, and one that is left out is told by
 * the clock from before.
 */
export function atWallClock(text: string, zone: string): number | null {
  const shown = WALL_CLOCK.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(shown)) return null;
  return shown - aheadMs(shown - aheadMs(shown, zone), zone);
}

/** By how much clocks there are ahead of UTC. */
function aheadMs(ms: number, zone: string): number {
  return Date.parse(`${wallClock(ms, zone)}Z`) - Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}

function partsIn(ms: number, zone: string): (type: Intl.DateTimeFormatPartTypes) => string {
  const parts = formatOf(zone).formatToParts(new Date(ms));
  return (type) => parts.find((part) => part.type === type)?.value ?? '';
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'shortOffset',
    });
    formats.set(zone, format);
  }
  return format;
}
