import { expect, test } from 'vitest';
import { sequenceAt } from '../../../lib/sequence.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { packLines } from '../intake/event-detail.ts';
import { DetailBlocks, type DetailPosition } from './detail-blocks.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

function linesOf(blocks: DetailBlocks, accountId: string, { seq, line }: DetailPosition): string | undefined {
  const block = blocks.blocks().find((one) => one.accountId === accountId && one.seq === seq);
  return block?.packed.toString('utf8').split('\n')[line];
}

test('each account and each day has blocks of its own, called by their first event', () => {
  const blocks = new DetailBlocks();
  const [one, two] = [sequenceAt(NOON), sequenceAt(NOON + DAY_MS)];
  const added = [
    ['a', one],
    ['b', one + 1n],
    ['a', one + 2n],
    ['a', two],
    ['b', one + 3n],
    ['a', two + 1n],
  ] as const;
  const places = added.map(([account, seq], i) => blocks.add(account, seq, `{"n":${i}}`));
  expect(places.map(({ seq }) => seq)).toEqual([one, one + 1n, one, two, one + 1n, two]);
  added.forEach(([account], i) => {
    expect(linesOf(blocks, account, places[i] as DetailPosition)).toBe(`{"n":${i}}`);
  });
});

test('a block ends before it is long; what is packed already stays alone', () => {
  const blocks = new DetailBlocks();
  const first = sequenceAt(NOON);
  const line = JSON.stringify({ text: 'x'.repeat(15_000) });
  const places = Array.from({ length: 40 }, (_, i) => blocks.add('a', first + BigInt(i), line));
  expect(new Set(places.map(({ seq }) => seq)).size).toBe(3);
  expect(places[16]).toEqual({ seq: first, line: 16 });
  expect(places[17]).toEqual({ seq: first + 17n, line: 0 });
  const alone = packLines([line]);
  expect(blocks.add('a', first + 40n, alone)).toEqual({ seq: first + 40n, line: 0 });
  expect(blocks.blocks()).toContainEqual({ accountId: 'a', seq: first + 40n, packed: alone });
});
