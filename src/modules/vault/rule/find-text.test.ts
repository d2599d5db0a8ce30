import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findText } from './find-text.ts';

test('a text is found where String.indexOf finds it', () => {
  const word = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });
  fc.assert(
    fc.property(word(40), word(6), fc.nat(40), (text, wanted, at) => {
      const from = Math.min(at, text.length);
      expect(findText(text, wanted, from)).toBe(text.indexOf(wanted, from));
    }),
    { numRuns: 3000, seed: 7 },
  );
});
