import { describe, expect, test } from 'vitest';
import { deliverable, inFlightOf, lapsedLeases, returnedByNack } from './fifo.ts';
import type { FifoMessage } from './fifo-store.ts';

const NOW = 1_000;
const message = (seq: number, visibleMs: number, leased: boolean, group = 'g') =>
  ({ seq: BigInt(seq), visible_at: visibleMs, leased, group_id: group }) as FifoMessage;
const seqsOf = (messages: readonly FifoMessage[]) => messages.map(({ seq }) => Number(seq));

describe('lapsedLeases', () => {
  test('nothing returns while every lease runs', () => {
    const lapsed = lapsedLeases([message(1, 1_001, true), message(2, 2_000, true)], NOW);
    expect([seqsOf(lapsed.returned), seqsOf(lapsed.running)]).toEqual([[], [1, 2]]);
  });

  test('the first ended lease takes every later one along and dates them; earlier ones go on', () => {
    const lapsed = lapsedLeases([message(1, 5_000, true), message(2, 900, true), message(3, 9_000, true)], NOW);
    expect([seqsOf(lapsed.returned), seqsOf(lapsed.running), lapsed.endedMs]).toEqual([[2, 3], [1], 900]);
  });

  test('a lease ends at its very end', () => {
    expect(seqsOf(lapsedLeases([message(1, NOW, true)], NOW).returned)).toEqual([1]);
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

test('a nack takes back the earliest named message and every later one', () => {
  const inFlight = [1, 2, 3, 4].map((seq) => message(seq, 2_000, true));
  expect(seqsOf(returnedByNack(inFlight, [4n, 2n]))).toEqual([2, 3, 4]);
});

test('in flight are the leased messages of the group, in order', () => {
  const messages = [message(3, 0, true), message(1, 0, true), message(2, 0, false), message(4, 0, true, 'other')];
  expect(seqsOf(inFlightOf({ group_id: 'g', in_flight: [] }, messages))).toEqual([1, 3]);
});
