import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindMessage } from './bind-message.ts';

/** The values of a Bind message, read by its documented format. */
function valuesOf(message: Buffer): { statement: string; values: (string | Buffer | null)[] } {
  expect(message[0]).toBe('B'.charCodeAt(0));
  expect(message.readInt32BE(1)).toBe(message.length - 1);
  expect(message[5]).toBe(0);
  const end = message.indexOf(0, 6);
  let at = end + 1;
  const count = message.readInt16BE(at);
  const formats = Array.from({ length: count }, (_, i) => message.readInt16BE(at + 2 + 2 * i));
  at += 2 + 2 * count;
  expect(message.readInt16BE(at)).toBe(count);
  at += 2;
  const values = formats.map((format) => {
    const length = message.readInt32BE(at);
    at += 4;
    if (length === -1) return null;
    const bytes = message.subarray(at, at + length);
    at += length;
    return format === 0 ? bytes.toString() : bytes;
  });
  expect([message.readInt16BE(at), message.readInt16BE(at + 2)]).toEqual([1, 0]);
  expect(at + 4).toBe(message.length);
  return { statement: message.toString('utf8', 6, end), values };
}

describe('bindMessage', () => {
  it('carries every value, whether copied or sent from where it is', () => {
    const large = fc.integer({ min: 8_190, max: 20_000 }).map((bytes) => Buffer.alloc(bytes, 7));
    const value = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      large,
      fc.integer({ min: 8_190, max: 8_200 }).map((length) => 'ä'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_]{0,63}$/), fc.array(value), (statement, values) => {
        const chunks = bindMessage(statement, values);
        expect(valuesOf(Buffer.concat(chunks))).toEqual({ statement, values });
        const sent: unknown[] = values.filter((one) => Buffer.isBuffer(one) && one.length >= 8_192);
        expect(chunks.filter((chunk) => sent.includes(chunk))).toHaveLength(sent.length);
      }),
    );
  });
});
