// Framing of DNS messages on a TCP connection: each has its length before it (RFC 1035, section 4.2.2).
import { uint16s } from './message.ts';

export function frameOf(message: Buffer): Buffer {
  return Buffer.concat([uint16s(message.length), message]);
}

/** Each message as it becomes whole. Ends at one with more than `bytesMax` bytes, as where the connection ends. */
export async function* framesOf(stream: AsyncIterable<Buffer>, bytesMax = 65_535): AsyncGenerator<Buffer> {
  let seen: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    while (seen.length >= 2) {
      const length = seen.readUInt16BE(0);
      if (length > bytesMax) return;
      if (seen.length < 2 + length) break;
      yield seen.subarray(2, 2 + length);
      seen = seen.subarray(2 + length);
    }
  }
}
