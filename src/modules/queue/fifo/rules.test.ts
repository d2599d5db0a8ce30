import { describe, expect, test } from 'vitest';
import { deliverable, inFlightOf, lapsedLeases, type Return, returnedByNack } from './rules.ts';
import type { HeldMessage } from './store.ts';

const NOW = 1_000;
const message = (seq: number, visibleMs: number, leased: boolean, group = 'g') =>
  ({ seq: BigInt(seq), visible_at: visibleMs, leased, group_id: group }) as HeldMessage;
const seqsOf = (messages: readonly { readonly seq: bigint }[]) => messages.map(({ seq }) => Number(seq));
const told = (returned: readonly Return[]) =>
  returned.map(({ message: { seq }, availableMs, isNeighbour }) => [
    Number(seq),
    availableMs,
    isNeighbour ? 'uncounted' : 'failed',
  ]);

describe('lapsedLeases', () => {
  test('nothing returns while every lease runs', () => {
    const lapsed = lapsedLeases([message(1, 1_001, true), message(2, 2_000, true)], NOW);
    expect([told(lapsed.returned), seqsOf(lapsed.running)]).toEqual([[], [1, 2]]);
  });

  test('the first ended lease takes every later one along and dates them; earlier ones go on', () => {
    const lapsed = lapsedLeases([message(1, 5_000, true), message(2, 900, true), message(3, 9_000, true)], NOW);
    expect(seqsOf(lapsed.running)).toEqual([1]);
    expect(told(lapsed.returned)).toEqual([
      [2, 900, 'failed'],
      [3, 900, 'uncounted'],
    ]);
  });

  test('of leases that end together only the first has failed', () => {
    const { returned } = lapsedLeases([message(1, 900, true), message(2, 900, true)], NOW);
    expect(told(returned)).toEqual([
      [1, 900, 'failed'],
      [2, 900, 'uncounted'],
    ]);
  });

  test('leases are gone through in the order of their ends, however late they are looked at', () => {
    const inFlight = [message(1, 900, true), message(2, 500, true), message(3, 700, true), message(4, 300, true)];
    expect(told(lapsedLeases(inFlight, NOW).returned)).toEqual([
      [4, 300, 'failed'],
      [2, 500, 'failed'],
      [3, 500, 'uncounted'],
      [1, 900, 'failed'],
    ]);
  });

  test('a lease ends at its very end', () => {
    expect(told(lapsedLeases([message(1, NOW, true)], NOW).returned)).toEqual([[1, NOW, 'failed']]);
  });
});

describe('deliverable', () => {
  test('takes consecutive messages up to the limit', () => {
    expect(
      seqsOf(
        deliverable(
          [1, 2, 3].map((seq) => message(seq, 0, false)),
          NOW,
          2,
        ),
      ),
    ).toEqual([1, 2]);
  });

  test('a delayed or a leased message holds everything behind it', () => {
    expect(
      seqsOf(deliverable([message(1, 0, false), message(2, NOW + 1, false), message(3, 0, false)], NOW, 9)),
    ).toEqual([1]);
    expect(deliverable([message(1, 0, true), message(2, 0, false)], NOW, 9)).toEqual([]);
  });
});

test('a nack takes back the earliest named message and every later one; the delay is for those named', () => {
  const inFlight = [1, 2, 3, 4].map((seq) => message(seq, 2_000, true));
  const returned = returnedByNack(inFlight, new Set([4n, 2n]), { nowMs: NOW, delayMs: 50 });
  expect(told(returned)).toEqual([
    [2, NOW + 50, 'failed'],
    [3, NOW, 'uncounted'],
    [4, NOW + 50, 'uncounted'],
  ]);
  expect(returnedByNack(inFlight, new Set([9n]), { nowMs: NOW, delayMs: 0 })).toEqual([]);
});

test('in flight are the leased messages of the group, in order', () => {
  const messages = [message(3, 0, true), message(1, 0, true), message(2, 0, false), message(4, 0, true, 'other')];
  expect(seqsOf(inFlightOf({ group_id: 'g', in_flight: [] }, messages))).toEqual([1, 3]);
});
