// The body of vault.call: as a text or as base64. Long ones are decoded in a thread.
import { decodeSource } from '../../../files/source.ts';
import { invalidField } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';

interface SentBody {
  readonly body?: string | undefined;
  readonly body_base64?: string | undefined;
}

/** Null: there is none. Throws VALIDATION_FAILED. */
export function bytesOf({ body, body_base64: base64 }: SentBody): Uint8Array<ArrayBuffer> | null {
  if (body !== undefined && base64 !== undefined)
    throw invalidField('body_base64', 'one_of', 'The body is sent once: as body, or as body_base64.');
  const bytes =
    base64 === undefined ? (body === undefined ? null : new TextEncoder().encode(body)) : decodeBase64(base64);
  if (bytes !== null && bytes.length > BODY_BYTES_MAX) {
    const param = base64 === undefined ? 'body' : 'body_base64';
    throw invalidField(
      param,
      'too_large',
      `${param} has more than ${BODY_BYTES_MAX / 1_048_576} MiB; longer ones go by path.`,
    );
  }
  return bytes;
}

function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeSource(base64, 'body_base64');
  } catch {
    throw invalidField('body_base64', 'base64', 'body_base64 is no base64.');
  }
}
