// Wire format of events in lists and deliveries (contract of webhooks), and truncation of `data` above the size limit.
import { iso } from '../../lib/time.ts';

/** Date of the event shapes; on the wire as api_version. */
export const eventApiVersion = '2026-11-01';

export interface EventRow {
  readonly account_id: string;
  readonly sequence: bigint;
  readonly event_id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  readonly request_id: string | null;
  readonly test: boolean;
  readonly created_at: number;
}

/** Size of `data` that an event keeps, so that a delivered body stays at 20 KiB. */
export const DATA_BYTES_MAX = 20 * 1024 - 512;

// Each step cuts harder; the last one leaves identifiers and figures only.
const CUTS = [
  { characters: 2_000, entries: 100 },
  { characters: 500, entries: 20 },
  { characters: 100, entries: 10 },
  { characters: 40, entries: 4 },
] as const;
const DEPTH_MAX = 6;

/** The event as JSON text; `data` goes through as it was written. */
export function eventText(row: EventRow, region: string): string {
  const head = {
    event_id: row.event_id,
    type: row.type,
    timestamp: iso(row.created_at),
    api_version: eventApiVersion,
    account_id: row.account_id,
    region,
    sequence: Number(row.sequence),
    test: row.test,
    request_id: row.request_id,
  };
  return `${JSON.stringify(head).slice(0, -1)},"data":${row.data}}`;
}

/** `data` within its limit: long texts and lists are cut, and `truncated: true` says so. */
export function fitData(data: string): string {
  if (Buffer.byteLength(data) <= DATA_BYTES_MAX) return data;
  const whole = JSON.parse(data) as Record<string, unknown>;
  for (const cut of CUTS) {
    const text = JSON.stringify({ ...(shorten(whole, cut, 0) as object), truncated: true });
    if (Buffer.byteLength(text) <= DATA_BYTES_MAX) return text;
  }
  return JSON.stringify({ object: {}, truncated: true });
}

function shorten(value: unknown, cut: (typeof CUTS)[number], depth: number): unknown {
  if (typeof value === 'string')
    return value.length > cut.characters ? `${value.slice(0, cut.characters).toWellFormed()}…` : value;
  if (value === null || typeof value !== 'object') return value;
  if (depth >= DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.slice(0, cut.entries).map((entry) => shorten(entry, cut, depth + 1));
  const entries = Object.entries(value).slice(0, cut.entries);
  return Object.fromEntries(
    entries.map(([name, entry]) => [name.slice(0, cut.characters), shorten(entry, cut, depth + 1)]),
  );
}
