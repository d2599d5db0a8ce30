import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  packBytes,
  packDictionary,
  packIntegers,
  packNumbers,
  packTexts,
  unfoldedBytes,
  unpackBytes,
  unpackDictionary,
  unpackIntegers,
  unpackNumbers,
  unpackTexts,
} from './columns.ts';

const wellFormed = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());

describe('a packed column unfolds to what was packed', () => {
  it('of whole numbers, near each other or not', () => {
    const far = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
    const near = fc.integer({ min: 1_790_000_000_000, max: 1_790_000_100_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(near, far), { maxLength: 300 }), (values) => {
        expect([...unpackIntegers(packIntegers(values))]).toEqual(values.map((value) => value + 0));
      }),
    );
  });

  it('of numbers, bit by bit', () => {
    const staleMarker = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);
    const bits = (values: Float64Array) => [...new BigUint64Array(values.buffer, values.byteOffset, values.length)];
    fc.assert(
      fc.property(fc.float64Array({ maxLength: 300 }), (values) => {
        expect(bits(unpackNumbers(packNumbers(values)))).toEqual(bits(values));
      }),
    );
    expect(bits(unpackNumbers(packNumbers(staleMarker)))).toEqual([0x7ff0000000000002n]);
  });

  it('of texts, of every script', () => {
    fc.assert(
      fc.property(fc.array(wellFormed, { maxLength: 200 }), (values) => {
        const texts = unpackTexts(packTexts(values));
        expect(Array.from({ length: texts.length }, (_, i) => texts.at(i))).toEqual(values);
      }),
    );
  });

  it('of values that come again, with none among them, also when they are many', () => {
    const value = fc.option(fc.oneof(wellFormed, fc.constantFrom('a', 'b', '')), { nil: null });
    const same = (values: readonly (string | null)[]) => {
      const { values: dictionary, ids } = unpackDictionary(packDictionary(values));
      expect(Array.from(ids, (id) => dictionary[id])).toEqual(values);
    };
    fc.assert(fc.property(fc.array(value, { maxLength: 300 }), same));
    for (const count of [256, 257, 65_536, 65_537])
      same(Array.from({ length: count }, (_, i) => (i === 9 ? null : `v${i}`)));
  });

  it('of bytes, and says how many they are before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const packed = packBytes(bytes);
        expect([...unpackBytes(packed)]).toEqual([...bytes]);
        expect(unfoldedBytes(packed)).toBe(bytes.length);
      }),
    );
    expect(packBytes(Buffer.alloc(100_000)).length).toBeLessThan(100);
  });
});
