// A plot shows the part of its period that has figures, and words where there are none.
import { expect, test } from 'vitest';
import { plot } from './plot.ts';

const HOURS = 168;
const instants = Array.from({ length: HOURS }, (_, i) => new Date(Date.UTC(2026, 0, 1, i)).toISOString());

function plotOf(at: readonly number[], length = HOURS): string {
  const values = instants.slice(0, length).map((_, i) => (at.includes(i) ? 2 : 0));
  const series = [{ label: 'a', values }];
  return plot({ caption: 'Calls', unit: 'calls', instants: instants.slice(0, length), series, isRunning: true }).text;
}

function shownOf(text: string): readonly number[] {
  const times = [...text.matchAll(/<time datetime="([^"]+)"/g)].map(([, at = '']) => instants.indexOf(at));
  return [times[0] ?? -1, times.at(-1) ?? -1];
}

test.each([
  [[167], 144, 167, true],
  [[0], 0, 23, false],
  [[80], 79, 102, false],
  [[0, 167], 0, 167, true],
  [[60, 159], 50, 167, true],
] as const)('figures at %j of 168 hours are shown from %d to %d', (at, from, to, isRunning) => {
  const text = plotOf(at);
  expect([shownOf(text), text.includes('data-running')]).toEqual([[from, to], isRunning]);
  expect(text.includes('nothing before')).toBe(from > 0);
  expect(text.includes('after 2026-01-')).toBe(to < HOURS - 1);
});

test('a day stays whole, and nothing at all is told in words', () => {
  expect(shownOf(plotOf([3], 24))).toEqual([0, 23]);
  expect(plotOf([])).toBe(
    '<figure class="plot"><figcaption>Calls</figcaption><p class="empty">No calls in this period.</p></figure>',
  );
});
