import { expect, test } from 'vitest';
import { KnownFigures } from './known-figures.ts';

test('knows what was added, by group', () => {
  const known = new KnownFigures();
  known.add('g', 'a');
  known.add('h', 'b');
  known.add('g', 'c');
  expect([...(known.of('g') ?? [])]).toEqual(['a', 'c']);
  expect(known.of('h')?.has('a')).toBe(false);
  expect(known.of('i')).toBeUndefined();
});

test('keeps groups that are asked for and forgets others', () => {
  const known = new KnownFigures();
  known.add('asked', 'a');
  known.add('quiet', 'a');
  for (let group = 0; group < 3_000; group += 1) {
    for (let figure = 0; figure < 100; figure += 1) known.add(`g${group}`, String(figure));
    expect(known.of('asked')?.has('a')).toBe(true);
  }
  expect(known.of('quiet')).toBeUndefined();
  const kept = Array.from({ length: 3_000 }, (_, group) => known.of(`g${group}`)?.size ?? 0);
  expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100_000);
  expect(kept.at(-1)).toBe(100);
});

test('one group with ever more figures does not grow without bound', () => {
  const known = new KnownFigures();
  let most = 0;
  for (let figure = 0; figure < 200_000; figure += 1) {
    known.add('g', String(figure));
    most = Math.max(most, known.of('g')?.size ?? 0);
  }
  expect(most).toBeLessThanOrEqual(25_000);
  expect(known.of('g')?.has('199999')).toBe(true);
});
