// Storage of an event's detail, which only its full record shows: a line of JSON in a block. Short details of a commit share blocks, since
// events of a crash are alike. 32 of 5 KB take 0.3 KB each in place of 0.9, 6 µs to deflate (zlib, RFC 1950) in place of 30, and PostgreSQL a
// fifth of the time to store. Zstandard takes half as long, but is still experimental in Node.js.
import { constants, deflateSync, inflateSync } from 'node:zlib';
import { iso } from '../../../lib/time.ts';
import type { DatedBreadcrumb, DetailParts, EventDetail } from './draft.ts';

/** Below, setting up a deflater takes longer than it saves. */
const DEFLATED_FROM_BYTES = 2 * 1024;
/** A longer one is a block by itself, packed before any lock is taken. */
const SHARED_CHARACTERS_MAX = 16 * 1024;
const OPENING_BRACE = 0x7b;
const NEWLINE = 0x0a;

/** A line that waits for its block, or a block of one line. */
export type ReadyDetail = string | Buffer;

/** What is known of an event beside what it says. */
type Beside = Pick<EventDetail, 'fingerprint_source' | 'idempotency_key'>;

export function readyDetail(parts: DetailParts, beside: Beside): ReadyDetail {
  const line = JSON.stringify(detailOf(parts, beside));
  return line.length > SHARED_CHARACTERS_MAX ? packLines([line]) : line;
}

/** A detail as it was before it came from a thread: bytes lose their class on the way. */
export function detailFromThread(detail: string | Uint8Array): ReadyDetail {
  return typeof detail === 'string' ? detail : Buffer.from(detail.buffer, detail.byteOffset, detail.length);
}

export function packLines(lines: readonly string[]): Buffer {
  const text = lines.join('\n');
  const isLong = text.length * UTF8_BYTES_MAX > scratch.length;
  const bytes = isLong ? Buffer.from(text, 'utf8') : scratch.subarray(0, scratch.write(text, 'utf8'));
  return bytes.length < DEFLATED_FROM_BYTES
    ? Buffer.from(bytes)
    : deflateSync(bytes, { level: constants.Z_BEST_SPEED });
}

/** Of one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;
// Making a buffer of 50 KB of text takes 29 µs, since its size is counted before; writing it where there is room for any text, 9.
const scratch = Buffer.allocUnsafeSlow(1024 * 1024);

export interface ReadDetail extends EventDetail {
  readonly breadcrumbs: readonly DatedBreadcrumb[];
}

/** The detail in line `line` of a block, from 0, of an event received at `receivedAtMs`. */
export function unpackLine(block: Buffer, line: number, receivedAtMs: number): ReadDetail {
  const text = unpackBlock(block);
  let start = 0;
  for (let passed = 0; passed < line; passed += 1) start = text.indexOf(NEWLINE, start) + 1;
  const end = text.indexOf(NEWLINE, start);
  const detail = JSON.parse(text.toString('utf8', start, end < 0 ? text.length : end)) as EventDetail;
  const receivedAt = iso(receivedAtMs);
  return { ...detail, breadcrumbs: detail.breadcrumbs.map((each) => ({ ...each, at: each.at ?? receivedAt })) };
}

/** The lines of a block in UTF-8. */
export function unpackBlock(block: Buffer): Buffer {
  // No zlib stream begins with a brace: the first byte names the method, 8 in its low half.
  return block[0] === OPENING_BRACE ? block : inflateSync(block);
}

function detailOf(parts: DetailParts, beside: Beside): EventDetail {
  return {
    exception: parts.exception,
    breadcrumbs: parts.breadcrumbs,
    context: parts.context,
    extra: parts.extra,
    sdk: parts.sdk,
    runtime: parts.runtime,
    request: parts.request,
    user: parts.user,
    fingerprint_source: beside.fingerprint_source,
    idempotency_key: beside.idempotency_key,
  };
}
