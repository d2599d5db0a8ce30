// What questions make of blocks, mostly in threads.
import type { ScanTask, StoredBlock } from '../../../core/blocks/block.ts';
import { levels } from '../records/levels.ts';
import { StoredLog } from '../records/stored-log.ts';
import type { Counts } from '../records/summary.ts';
import { Matcher } from './matcher.ts';
import type { Question } from './question.ts';

/** Where a list is, in the order of records: by time, then by number. */
export interface Position {
  readonly timeMs: number;
  readonly number: bigint;
}

export interface FoundRecord extends Position {
  readonly json: string;
}

export interface FindArgs {
  readonly question: Question;
  /** Only records behind it, in the order that is asked for; null: all. */
  readonly after: Position | null;
  readonly isNewestFirst: boolean;
  readonly limit: number;
}

/** Of a page: further records are for the next one. */
export const PAGE_BYTES_MAX = 1024 * 1024;

export function compare(a: Position, b: Position): number {
  return a.timeMs - b.timeMs || (a.number < b.number ? -1 : a.number > b.number ? 1 : 0);
}

interface Candidate extends Position {
  readonly log: StoredLog;
  readonly record: number;
}

/** The first `limit` records of the blocks, of as many bytes as a page may have, and one more. */
export const findRecords: ScanTask<FindArgs, FoundRecord[]> = {
  source: import.meta.url,
  id: 'findRecords',
  run(blocks, args) {
    const sign = args.isNewestFirst ? -1 : 1;
    const found = blocks.flatMap((block) => candidatesOf(block, args)).sort((a, b) => sign * compare(a, b));
    const rows: FoundRecord[] = [];
    let bytes = 0;
    for (const { timeMs, number, log, record } of found.slice(0, args.limit + 1)) {
      const json = log.json(record);
      rows.push({ timeMs, number, json });
      if (bytes > PAGE_BYTES_MAX) break;
      bytes += json.length;
    }
    return rows;
  },
};

function candidatesOf(block: StoredBlock, { question, after, isNewestFirst, limit }: FindArgs): Candidate[] {
  const log = new StoredLog(block);
  const matcher = new Matcher(log, question);
  const sign = isNewestFirst ? -1 : 1;
  const found: Candidate[] = [];
  const [first, end] = isNewestFirst ? [matcher.end - 1, matcher.first - 1] : [matcher.first, matcher.end];
  for (let record = first; record !== end && found.length <= limit; record += sign) {
    const at = { timeMs: log.times[record] as number, number: after === null ? 0n : log.number(record) };
    if (after !== null && sign * compare(at, after) <= 0) continue;
    if (matcher.matches(record)) found.push({ timeMs: at.timeMs, number: log.number(record), log, record });
  }
  return found;
}

export interface CountArgs {
  readonly question: Question;
  readonly intervalMs: number;
}

export interface CountedBlocks {
  readonly blocks: number;
  /** Records of an interval and level. */
  readonly cells: readonly (readonly [startMs: number, level: number, records: number])[];
}

export const countRecords: ScanTask<CountArgs, CountedBlocks> = {
  source: import.meta.url,
  id: 'countRecords',
  run(blocks, { question, intervalMs }) {
    const cells = new Map<number, number>();
    for (const block of blocks) {
      const log = new StoredLog(block);
      const matcher = new Matcher(log, question);
      for (let record = matcher.first; record < matcher.end; record += 1) {
        if (!matcher.matches(record)) continue;
        const key =
          Math.floor((log.times[record] as number) / intervalMs) * levels.length + (log.levels[record] as number);
        cells.set(key, (cells.get(key) ?? 0) + 1);
      }
    }
    const cellOf = ([key, records]: [number, number]) =>
      [Math.floor(key / levels.length) * intervalMs, key % levels.length, records] as const;
    return { blocks: blocks.length, cells: [...cells].map(cellOf) };
  },
};

export interface FieldCounts {
  readonly levels: number[];
  readonly services: Counts;
  readonly names: Counts;
}

/** What records hold. */
export const countFields: ScanTask<{ readonly question: Question }, FieldCounts> = {
  source: import.meta.url,
  id: 'countFields',
  run(blocks, { question }) {
    const counts: FieldCounts = { levels: levels.map(() => 0), services: new Map(), names: new Map() };
    for (const block of blocks) {
      const log = new StoredLog(block);
      const matcher = new Matcher(log, question);
      for (let record = matcher.first; record < matcher.end; record += 1) {
        const level = log.levels[record] as number;
        counts.levels[level] = (counts.levels[level] as number) + 1;
        count(counts.services, log.services.values[log.services.ids[record] as number] as string);
        log.eachAttribute(record, (name) => count(counts.names, log.names[name] as string));
      }
    }
    return counts;
  },
};

export function count(counts: Counts, text: string, records = 1): void {
  counts.set(text, (counts.get(text) ?? 0) + records);
}
