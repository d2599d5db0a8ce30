import fc from 'fast-check';
import { compress } from 'snappyjs';
import { expect, test } from 'vitest';
import { SnappyError, snappyDecompress } from './snappy.ts';

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.array(fc.constantFrom('abcd', 'label', 'x'), { maxLength: 20_000 }).map((parts) => Buffer.from(parts.join(''))),
);

test('what was compressed is what comes back', () => {
  fc.assert(
    fc.property(bytes, (each) => {
      const plain = Buffer.from(each);
      expect(snappyDecompress(Buffer.from(compress(plain)), plain.length).equals(plain)).toBe(true);
    }),
  );
});

test('noise ends with an error or with as many bytes as were announced', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
      try {
        expect(snappyDecompress(Buffer.from(noise), 1_000).length).toBeLessThanOrEqual(1_000);
      } catch (error) {
        expect(error).toBeInstanceOf(SnappyError);
      }
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ['nothing', []],
  ['a length without an end', [255, 255, 255, 255, 255]],
  ['4 GiB', [255, 255, 255, 255, 15, 0, 0]],
  ['more than is allowed', [0xe9, 7, 0, 0]],
  ['a literal of negative length', [100, 252, 251, 255, 255, 255, 0]],
  ['an end too early', [100, 0, 0]],
  ['a copy of what is not there', [4, 1, 9]],
  ['more than was announced', [1, 4, 65, 66]],
])('%s is refused', (_what, block) => {
  expect(() => snappyDecompress(Buffer.from(block), 1_000)).toThrow(SnappyError);
});
