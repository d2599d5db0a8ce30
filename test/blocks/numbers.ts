// A kind of blocks for tests: records are numbers with a time and a text.
import type { BlockDraft, BlockKind, ScanTask, StoredBlock } from '../../src/blocks/block.ts';
import { packDictionary, packIntegers, unpackDictionary, unpackIntegers } from '../../src/blocks/columns.ts';
import { Marks } from '../../src/blocks/marks.ts';
import { HOUR_MS } from '../../src/lib/time.ts';

export interface NumberRecord {
  readonly timeMs: number;
  readonly number: number;
  readonly text: string;
}

export const numbers: BlockKind = {
  name: 'numbers',
  source: import.meta.url,
  exportName: 'numbers',
  spanMs: HOUR_MS,
  recordsMax: 100,
  keepDays: { standard: 7, max: 30 },
  hotDays: 1,
  merge: (blocks) => draftsOf(blocks.flatMap(recordsOf)),
};

/** Of one span or several, in blocks of at most 100. */
export function draftsOf(records: readonly NumberRecord[]): BlockDraft[] {
  const spans = Map.groupBy(records, ({ timeMs }) => Math.floor(timeMs / HOUR_MS));
  return [...spans.values()].flatMap((of) => {
    const sorted = of.toSorted((a, b) => a.timeMs - b.timeMs || a.number - b.number);
    return Array.from({ length: Math.ceil(sorted.length / 100) }, (_, i) =>
      draftOf(sorted.slice(i * 100, i * 100 + 100)),
    );
  });
}

function draftOf(records: readonly NumberRecord[]): BlockDraft {
  const marks = new Marks();
  for (const { text } of records) marks.add(text);
  const times = records.map(({ timeMs }) => timeMs);
  return {
    fromMs: times[0] as number,
    toMs: times.at(-1) as number,
    records: records.length,
    summary: Buffer.from(String(records.length)),
    marks: marks.pack(),
    columns: new Map([
      ['time', packIntegers(times)],
      ['text', packDictionary(records.map(({ text }) => text))],
      ['number', packIntegers(records.map(({ number }) => number))],
    ]),
  };
}

export function recordsOf({ columns }: Pick<StoredBlock, 'columns'>): NumberRecord[] {
  const [times, ids] = [unpackIntegers(columns.get('time') as Buffer), unpackIntegers(columns.get('number') as Buffer)];
  const texts = unpackDictionary(columns.get('text') as Buffer);
  return Array.from(times, (timeMs, i) => ({
    timeMs,
    number: ids[i] as number,
    text: texts.values[texts.ids[i] as number] as string,
  }));
}

export const COLUMNS = ['time', 'number', 'text'];

/** The numbers of the records in a time. */
export const found: ScanTask<{ fromMs: number; toMs: number }, number[]> = {
  source: import.meta.url,
  id: 'found',
  run: (blocks, { fromMs, toMs }) =>
    blocks.flatMap((block) =>
      recordsOf(block)
        .filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
        .map(({ number }) => number),
    ),
};
