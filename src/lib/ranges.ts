// HTTP range requests (RFC 9110, section 14, and If-Range of section 13.1.5). A single range is served. A request for several ranges gets the
// whole content, as the section allows.
import type { IncomingHttpHeaders } from 'node:http';

/** What a range is of. */
export interface Ranged {
  readonly length: number;
  /** Strong, in its quotes. */
  readonly etag?: string;
  readonly lastModifiedMs?: number;
}

/** Bytes from `start` to `end`, both included. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=\s*(\d{0,16})-(\d{0,16})\s*$/i;

/** The part; `whole` without one, or where the content is no longer the one that the client has; `none` where it has no such bytes. */
export function partOf(headers: IncomingHttpHeaders, content: Ranged): Part | 'whole' | 'none' {
  const [, first = '', last = ''] = RANGE.exec(headers.range ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  const condition = headers['if-range'];
  if (typeof condition === 'string' && !isSame(condition, content)) return 'whole';
  const { length } = content;
  if (first === '') {
    const suffix = Math.min(Number(last), length);
    return suffix === 0 ? 'none' : { start: length - suffix, end: length - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= length) return 'none';
  return { start, end: last === '' ? length - 1 : Math.min(Number(last), length - 1) };
}

/** By a strong tag, or by the very second of the last change. */
function isSame(condition: string, { etag, lastModifiedMs }: Ranged): boolean {
  const sent = condition.trim();
  if (sent.startsWith('"')) return etag === sent;
  if (lastModifiedMs === undefined || sent.startsWith('W/')) return false;
  return Date.parse(sent) === Math.floor(lastModifiedMs / 1000) * 1000;
}
