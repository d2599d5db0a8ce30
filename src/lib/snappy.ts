// Decompressor of Snappy's block format (github.com/google/snappy, format_description.txt). It replaces that of snappyjs, which loops endlessly
// over a literal whose length has its highest bit set, and accepts truncated blocks.

export class SnappyError extends Error {}

/** Longest literal whose length stands in the tag. */
const SHORT_LITERAL_MAX = 60;

/** What the block unfolds to. Throws SnappyError, also for one that announces more than `bytesMax`: before anything of it is unfolded. */
export function snappyDecompress(block: Buffer, bytesMax: number): Buffer {
  const { length, end } = readLength(block);
  if (length > bytesMax) throw new SnappyError(`it unfolds to ${length} bytes, more than ${bytesMax}`);
  const out = Buffer.allocUnsafe(length);
  let [at, written] = [end, 0];
  while (at < block.length) {
    const tag = block[at++] as number;
    if ((tag & 3) === 0) {
      let count = (tag >> 2) + 1;
      if (count > SHORT_LITERAL_MAX) {
        const bytes = count - SHORT_LITERAL_MAX;
        if (at + bytes > block.length) throw blockError();
        count = block.readUIntLE(at, bytes) + 1;
        at += bytes;
      }
      if (at + count > block.length || written + count > length) throw blockError();
      block.copy(out, written, at, at + count);
      at += count;
      written += count;
      continue;
    }
    const count = (tag & 3) === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const bytes = (tag & 3) === 3 ? 4 : tag & 3;
    if (at + bytes > block.length) throw blockError();
    const offset = block.readUIntLE(at, bytes) + ((tag & 3) === 1 ? (tag >> 5) << 8 : 0);
    at += bytes;
    if (offset === 0 || offset > written || written + count > length) throw blockError();
    // What is copied may be what is being written: byte by byte.
    for (let i = 0; i < count; i += 1) out[written + i] = out[written + i - offset] as number;
    written += count;
  }
  if (written !== length) throw blockError();
  return out;
}

/** The length that a block says it unfolds to, a varint of 32 bits, and where that ends. */
function readLength(block: Buffer): { length: number; end: number } {
  let length = 0;
  for (let end = 0; end < Math.min(5, block.length); end += 1) {
    const byte = block[end] as number;
    length += (byte & 127) * 128 ** end;
    if (byte < 128) return { length, end: end + 1 };
  }
  throw blockError();
}

function blockError(): SnappyError {
  return new SnappyError('it is not a block of snappy');
}
