import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withShortNumbers } from './metadata.ts';

test('only long numbers are written anew; texts, names and everything else stay as they are', () => {
  const digits = `1${'0'.repeat(308)}`;
  expect(withShortNumbers(`{"a": ${digits}, "b": [-${digits}, 0.00000015, -0.0000001, 7, 1.25]}`)).toBe(
    '{"a": 1e+308, "b": [-1e+308, 1.5e-7, -1e-7, 7, 1.25]}',
  );
  const texts = `{"${digits}": "${digits}", "q": "\\"${digits}, 0.0000001", "e": "\\\\"}`;
  expect(withShortNumbers(texts)).toBe(texts);
});

/** As jsonb writes a number: never with an exponent. */
function writtenOut(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const places = Number(exponent);
  const digits = mantissa.replace(/[-.]/g, '');
  const sign = value < 0 ? '-' : '';
  if (places < 0) return `${sign}0.${'0'.repeat(-places - 1)}${digits}`;
  const whole = digits.slice(0, places + 1).padEnd(places + 1, '0');
  const rest = digits.slice(places + 1);
  return sign + whole + (rest === '' ? '' : `.${rest}`);
}

test('of any number and text the meaning stays, and no number is longer than as JSON writes it', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
  fc.assert(
    fc.property(number, number, fc.string({ unit: 'binary' }), (a, b, text) => {
      const quoted = JSON.stringify(text);
      const stored = `{"t": ${quoted}, "list": [${writtenOut(a)}, ${quoted}], "n": ${writtenOut(b)}}`;
      expect(withShortNumbers(stored)).toBe(
        `{"t": ${quoted}, "list": [${JSON.stringify(a)}, ${quoted}], "n": ${JSON.stringify(b)}}`,
      );
    }),
    { numRuns: 1_000 },
  );
});
