// Bodies as SDKs compress them, decompressed block by block within bounds: a bomb ends at the limit, and of what it unfolds to nothing
// is held but what a sieve keeps.
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { Problem, problem } from '../../../problems/problem.ts';
import { ENVELOPE_BYTES_MAX } from './numbers.ts';
import type { Sieve } from './sieve.ts';

/** Decompressors answer in blocks of this size. */
const options = { chunkSize: 64 * 1024 };

/** What `deflate` means is zlib's format (RFC 9110 §8.4.1.2); some send the bare one (RFC 1951), which no encoder begins so. */
const undeflate = (body: Buffer) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options);
const gunzip = () => zlib.createGunzip(options);

const decompressors: Readonly<Record<string, (body: Buffer) => Transform>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: undeflate,
  br: () => zlib.createBrotliDecompress(options),
};

/**
 * What the sieve keeps of the body without its content encoding. Throws UNSUPPORTED_MEDIA_TYPE for another encoding,
 * PAYLOAD_TOO_LARGE beyond 24 MiB, INVALID_REQUEST for a body that is not in its encoding, and what the sieve throws.
 */
export async function sift(body: Buffer, encoding: string | undefined, sieve: Sieve): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity' || body.length === 0) {
    sieve.push(body);
    return sieve.end();
  }
  const decompressor = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined;
  if (decompressor === undefined) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', {
      message: `The content encoding ${JSON.stringify(name.slice(0, 100))} is not supported; send gzip, deflate or br.`,
    });
  }
  try {
    await unfold(decompressor(body), body, sieve);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem('INVALID_REQUEST', { message: `The body is not valid ${name}.`, cause: error });
  }
  return sieve.end();
}

/** What ends the loop ends the decompressor too. */
async function unfold(decompressor: Transform, body: Buffer, sieve: Sieve): Promise<void> {
  decompressor.end(body);
  let bytes = 0;
  for await (const block of decompressor as AsyncIterable<Buffer>) {
    bytes += block.length;
    if (bytes > ENVELOPE_BYTES_MAX) {
      throw problem('PAYLOAD_TOO_LARGE', {
        message: `The body may have at most ${ENVELOPE_BYTES_MAX} bytes when decompressed.`,
      });
    }
    sieve.push(block);
  }
}
