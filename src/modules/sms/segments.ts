// Splits a text into segments and gives their bytes: the counted segments are the sent ones (3GPP TS 23.038, 23.040).
import { invalidField } from '../../problems/problem.ts';
import { SEGMENTS_MAX } from './limits.ts';

export type SmsEncoding = 'gsm7' | 'ucs2';

export interface Segments {
  readonly encoding: SmsEncoding;
  readonly count: number;
}

/** Bytes of a segment beside its header: 160 septets, or 140 bytes. */
const SEPTETS_MAX = 160;
const BYTES_MAX = 140;
const HEADER = { septets: 7, bytes: 6 } as const;

/** Throws VALIDATION_FAILED beyond `most`. */
export async function countSegments(text: string, param = 'text', most = SEGMENTS_MAX): Promise<Segments> {
  const { encoding, parts } = await segmentBytes(text);
  if (parts.length > most) {
    throw invalidField(param, 'segments', `It takes ${parts.length} segments; ${most} are the most.`);
  }
  return { encoding, count: parts.length };
}

/** The segments as bytes without headers: one septet a byte in GSM 7-bit, else UTF-16 with the high byte first. */
export async function segmentBytes(
  text: string,
): Promise<{ readonly encoding: SmsEncoding; readonly parts: readonly Buffer[] }> {
  const { SegmentedMessage } = await import('sms-segments-calculator');
  const message = new SegmentedMessage(text, 'auto');
  const encoding = message.encodingName === 'GSM-7' ? 'gsm7' : 'ucs2';
  const units = message.segments.map((segment) =>
    [...segment].flatMap((char) => ('codeUnits' in char ? char.codeUnits : [])),
  );
  const parts = units.map((of) => (encoding === 'gsm7' ? Buffer.from(of) : wide(of)));
  return { encoding, parts: parts.flatMap((part) => fitting(part, encoding, parts.length > 1)) };
}

function wide(units: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * units.length);
  for (const [i, unit] of units.entries()) bytes.writeUInt16BE(unit, 2 * i);
  return bytes;
}

/** The library keeps a character with its marks in one segment, however many marks there are. */
function fitting(part: Buffer, encoding: SmsEncoding, hasHeader: boolean): Buffer[] {
  const max =
    encoding === 'gsm7' ? SEPTETS_MAX - (hasHeader ? HEADER.septets : 0) : BYTES_MAX - (hasHeader ? HEADER.bytes : 0);
  if (part.length <= max) return [part];
  const size = encoding === 'gsm7' ? SEPTETS_MAX - HEADER.septets : BYTES_MAX - HEADER.bytes;
  return Array.from({ length: Math.ceil(part.length / size) }, (_, i) => part.subarray(i * size, (i + 1) * size));
}
