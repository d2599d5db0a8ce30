// Bodies of the store endpoint: the event as JSON or, as older SDKs send it, as base64 of its zlib (RFC 1950) or gzip (RFC 1952).
import { type Encoding, inflated } from '../../../core/inflate.ts';
import { problem } from '../../../problems/problem.ts';
import { EVENT_BYTES_MAX, STORE_BYTES_MAX } from './numbers.ts';
import { sift, WholeBody } from './sieve.ts';

const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/;
const GZIP_BEGIN = 0x1f;
const ZLIB_BEGIN = 8;

/** The JSON of the event. Throws the Problem of a body that cannot be inflated. */
export async function storedEvent(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const sent = await sift(body, new WholeBody(STORE_BYTES_MAX));
  const text = sent.toString('latin1').trimEnd();
  if (!BASE64.test(text)) return sent;
  const packed = Buffer.from(text, 'base64');
  return sift(inflated(one(packed), encodingOf(packed), EVENT_BYTES_MAX), new WholeBody(EVENT_BYTES_MAX));
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function encodingOf(packed: Buffer): Encoding {
  const [first = 0] = packed;
  if (first === GZIP_BEGIN) return 'gzip';
  if ((first & 0x0f) === ZLIB_BEGIN) return 'deflate';
  throw problem('INVALID_REQUEST', { message: 'The body is neither JSON nor base64 of zlib or gzip.' });
}
