// Figures of a group in the group's own row, as JSON, as long as they are short: with many groups of few events each, a row for each
// figure took PostgreSQL a sixth of what a capture costs (45 of 290 µs). Once they are too long they move to errors.value_count for
// good, where a commit adds to those that it changes.
import { type FigureCount, figureKey } from './capture-types.ts';

/** With the rest of its row below the 2 KB from which PostgreSQL cuts rows in pieces. */
const INLINE_BYTES_MAX = 1_024;

/** By `figureKey`; null: the figures of the group are rows. */
export function parseFigures(text: string | null): Map<string, FigureCount> | null {
  if (text === null) return null;
  const figures = JSON.parse(text) as FigureCount[];
  return new Map(figures.map((figure) => [figureKey(figure[0], figure[1], figure[2]), figure]));
}

/** Null when they are too many for the group's row. */
export function figuresText(figures: Iterable<FigureCount>): string | null {
  const text = JSON.stringify([...figures]);
  return Buffer.byteLength(text) > INLINE_BYTES_MAX ? null : text;
}

/** What is there and what is added, as one. */
export function addFigures(
  there: ReadonlyMap<string, FigureCount>,
  added: readonly (readonly [string, FigureCount])[],
): Map<string, FigureCount> {
  const sums = new Map(there);
  for (const [key, [kind, name, value, events]] of added) {
    sums.set(key, [kind, name, value, events + (there.get(key)?.[3] ?? 0)]);
  }
  return sums;
}
