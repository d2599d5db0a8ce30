// Metadata as stored: JSON that jsonb can hold. Anything else is refused as the caller's fault, with its path.
import { invalidField } from '../../../problems/problem.ts';
import { METADATA_BYTES_MAX, METADATA_KEYS_MAX } from '../limits.ts';

/** JSON text of an object, `at` being its path in the request. Throws VALIDATION_FAILED. */
export function metadataText(value: Readonly<Record<string, unknown>>, at: string): string {
  if (Object.keys(value).length > METADATA_KEYS_MAX) {
    throw invalidField(at, 'too_many_keys', `${at} has more than ${METADATA_KEYS_MAX} keys.`);
  }
  const text = JSON.stringify(value);
  // JSON.stringify escapes both, so texts without a backslash hold neither; 1e999 has become null.
  if (text.includes('\\') || text.includes('null')) refuseUnstorable(value, at);
  if (Buffer.byteLength(text) > METADATA_BYTES_MAX) throw tooLarge(at);
  return text;
}

export function tooLarge(at: string) {
  return invalidField(at, 'too_large', `${at} has more than ${METADATA_BYTES_MAX / 1024} KiB.`);
}

/** NUL and lone surrogates in names and texts, numbers beyond a double. */
function refuseUnstorable(value: unknown, at: string): void {
  if (typeof value === 'string') refuseText(value, at);
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidField(at, 'number_range', `${at} is larger than a double can hold.`);
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) refuseUnstorable(item, `${at}[${i}]`);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      refuseText(name, at);
      refuseUnstorable(item, `${at}.${name}`);
    }
  }
}

function refuseText(text: string, at: string): void {
  if (isStorable(text)) return;
  throw invalidField(at.slice(0, 200), 'characters', `${at.slice(0, 200)} holds NUL or half of a surrogate pair.`);
}

/** Whether PostgreSQL can hold the text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** jsonb writes these out; in texts they mean nothing. */
const WRITTEN_OUT = /\d{22}|0\.0{6}/;
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?/g;

/** JSON text of stored metadata with its numbers in their shortest form: jsonb makes 309 digits of 1e308. */
export function withShortNumbers(stored: string): string {
  if (!WRITTEN_OUT.test(stored)) return stored;
  return stored.replaceAll(TEXT_OR_NUMBER, (part) =>
    part.startsWith('"') || !WRITTEN_OUT.test(part) ? part : String(Number(part)),
  );
}
