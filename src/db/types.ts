// Type mapping of PostgreSQL values: int8 as bigint, timestamptz as epoch milliseconds (sessions run in UTC), bytea as Buffer. A single
// timestamptz is sent as a Date, which `timestamp` makes from epoch milliseconds.
import pg from 'pg';

const INT8 = 20;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;
const INT8_ARRAY = 1016;

/** `2026-11-21 08:22:40.123456+00` to milliseconds since the Unix epoch, microseconds as a fraction. */
export function parseTimestamp(text: string): number {
  const ms = Date.UTC(
    Number(text.slice(0, 4)),
    Number(text.slice(5, 7)) - 1,
    Number(text.slice(8, 10)),
    Number(text.slice(11, 13)),
    Number(text.slice(14, 16)),
    Number(text.slice(17, 19)),
  );
  if (text.charCodeAt(19) !== 46) return ms;
  const fraction = text.slice(20, text.length - 3);
  return ms + Number(fraction) * 10 ** (3 - fraction.length);
}

/** Milliseconds since the Unix epoch as a parameter; several are `timestampArray`. */
export function timestamp<Ms extends number | null>(ms: Ms): Ms extends null ? null : Date;
export function timestamp(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, (text) => BigInt(text)],
  [NUMERIC, (text) => BigInt(text)],
  [TIMESTAMPTZ, parseTimestamp],
  [INT8_ARRAY, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt))],
]);

export const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    const own = format === 'binary' ? undefined : parsers.get(oid);
    return own ?? pg.types.getTypeParser(oid as never, (format ?? 'text') as never);
  },
};
