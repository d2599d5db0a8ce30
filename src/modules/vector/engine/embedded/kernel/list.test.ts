import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listBits } from '../filter/bitmap.ts';
import { instantiate } from './kernel.ts';

it('lists the bits that are set, whatever they are', () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const kernel = instantiate(memory);
  const uint32 = new Uint32Array(memory.buffer);
  const word = fc.oneof(fc.constantFrom(0, 1, 0x8000_0000, 0xffff_ffff), fc.integer({ min: 0, max: 0xffff_ffff }));
  fc.assert(
    fc.property(fc.uint32Array({ maxLength: 40 }), fc.array(word, { maxLength: 40 }), (some, others) => {
      const words = Uint32Array.from([...some, ...others]);
      uint32.set(words, 4);
      const expected = new Uint32Array(words.length * 32);
      const count = listBits(words, 0, words.length * 32, expected, 0);
      const out = 1_024;
      expect(kernel.list(16, words.length, 0, out)).toBe(count);
      expect(uint32.slice(out / 4, out / 4 + count)).toEqual(expected.slice(0, count));
    }),
  );
});
