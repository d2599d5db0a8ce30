// Decompression of request bodies, block by block. A decompression bomb stops at the size bound, and a decompressor keeps no more memory than
// its window.
import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { problem } from '../problems/problem.ts';

export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd';

const MIB = 1024 * 1024;
/** What every decoder of zstd is to take (RFC 8878, section 3.1.1.1.2); longer windows are refused. */
const ZSTD_WINDOW_LOG_MAX = 23;
/** Decompressors answer in blocks of this size. */
const options = { chunkSize: 64 * 1024 };

/** What the decompressor of one body remembers. */
export const windowBytes: Readonly<Record<Encoding, number>> = {
  gzip: MIB / 16,
  deflate: MIB / 16,
  br: 16 * MIB,
  zstd: 8 * MIB,
};

const decompressors: Readonly<Record<Encoding, (first: Buffer) => Transform>> = {
  gzip: () => zlib.createGunzip(options),
  // What `deflate` means is zlib's format (RFC 9110, section 8.4.1.2); some send the bare one (RFC 1951), which no encoder begins so.
  deflate: ([begin = 0]) => ((begin & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options)),
  br: () => zlib.createBrotliDecompress(options),
  zstd: () =>
    zlib.createZstdDecompress({ ...options, params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
};

/**
 * The body without its encoding; an empty one is empty. Fails with PAYLOAD_TOO_LARGE beyond `bytesMax`, with INVALID_REQUEST where the body is
 * not in its encoding or ends too early, and with what `sent` fails with. What ends the reading ends the decompressor and `sent` too.
 */
export async function* inflateBody(
  sent: AsyncIterable<Buffer>,
  encoding: Encoding,
  bytesMax: number,
): AsyncGenerator<Buffer, void, undefined> {
  const source = sent[Symbol.asyncIterator]();
  const first = await firstOf(source);
  if (first === null) return;
  const decompressor = decompressors[encoding](first);
  const broken = { by: null as unknown };
  pipeline(Readable.from(rest(first, source, broken), { objectMode: false }), decompressor, () => undefined);
  try {
    yield* limitBytes(decompressor as AsyncIterable<Buffer>, bytesMax);
  } catch (error) {
    if (broken.by !== null) throw broken.by;
    if (!isOfZlib(error)) throw error;
    throw problem('INVALID_REQUEST', { message: `The body is not valid ${encoding}.`, cause: error });
  }
}

async function firstOf(source: AsyncIterator<Buffer>): Promise<Buffer | null> {
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    if (next.value.length > 0) return next.value;
  }
  return null;
}

async function* rest(first: Buffer, source: AsyncIterator<Buffer>, broken: { by: unknown }): AsyncGenerator<Buffer> {
  try {
    yield first;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  } catch (error) {
    broken.by = error;
    throw error;
  } finally {
    await source.return?.();
  }
}

async function* limitBytes(blocks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const block of blocks) {
    bytes += block.length;
    if (bytes > bytesMax) {
      throw problem('PAYLOAD_TOO_LARGE', { message: `The body may have at most ${bytesMax} bytes when decompressed.` });
    }
    yield block;
  }
}

/** Node numbers failures of its decompressors, and of nothing else so. */
function isOfZlib(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && 'code' in error && !('syscall' in error);
}
