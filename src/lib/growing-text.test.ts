import { expect, test } from 'vitest';
import { GrowingText } from './growing-text.ts';

test('is all that was added, also when it is read in between', () => {
  const text = new GrowingText('so ');
  let expected = 'so ';
  for (let n = 0; n < 1_000; n += 1) {
    text.add(`${n}é,`);
    expected += `${n}é,`;
    if (n % 100 === 7) expect(String(text)).toBe(expected);
  }
  expect(String(text)).toBe(expected);
  expect(String(new GrowingText())).toBe('');
});
