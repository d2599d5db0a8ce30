import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FigureCount, figureKey } from './capture-types.ts';
import { addFigures, figuresText, parseFigures } from './inline-figures.ts';

const figure = fc.tuple(
  fc.integer({ min: 1, max: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.string({ maxLength: 3 }),
  fc.integer({ min: 1, max: 1_000_000 }),
);
const keyOf = ([kind, name, value]: FigureCount) => figureKey(kind, name, value);
const eventsByKey = (figures: readonly FigureCount[]) => {
  const sums = new Map<string, number>();
  for (const one of figures) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + one[3]);
  return Object.fromEntries([...sums].sort());
};

test('what is added adds up, through the text of the row', () => {
  const distinct = fc.uniqueArray(figure, { selector: keyOf, maxLength: 12 });
  fc.assert(
    fc.property(distinct, distinct, (there, added) => {
      const text = figuresText(there);
      fc.pre(text !== null);
      const sums = addFigures(
        parseFigures(text) as Map<string, FigureCount>,
        added.map((one) => [keyOf(one), one] as const),
      );
      expect(eventsByKey([...sums.values()])).toEqual(eventsByKey([...there, ...added]));
      for (const [key, one] of sums) expect(keyOf(one)).toBe(key);
    }),
  );
});

test('a row holds a kilobyte of them', () => {
  const users = (count: number, name = 'user') =>
    Array.from({ length: count }, (_, i): FigureCount => [1, `${name}-${i}`, '', 1]);
  expect(parseFigures(figuresText(users(40)))?.size).toBe(40);
  expect(figuresText(users(60))).toBeNull();
  expect(figuresText(users(40, 'użytkowniczka'))).toBeNull();
  expect(parseFigures(null)).toBeNull();
});
