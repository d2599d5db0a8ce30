import { expect, test } from 'vitest';
import { runsOf } from './merge.ts';

const ref = (blockId: number, records: number, level = 0, bytes = 100) => ({
  blockId: BigInt(blockId),
  seq: 0n,
  fromMs: 0,
  toMs: 0,
  summary: null,
  records,
  level,
  bytes,
});

test('blocks are merged only with small neighbours, and only where a new one is among them', () => {
  const refs = [
    ref(1, 40, 1),
    ref(2, 10),
    ref(3, 60, 1),
    ref(4, 5, 1),
    ref(5, 5, 1),
    ref(6, 90),
    ref(7, 1),
    ref(8, 1, 0, 5_000_000),
  ];
  const runs = runsOf(refs, { recordsMax: 100 }).map((run) => run.map(({ blockId }) => Number(blockId)));
  expect(runs).toEqual([[1, 2], [7]]);
});
