// Scan tasks over blocks for searches, run mostly in threads.
import type { ScanTask, StoredBlock } from '../../../blocks/block.ts';
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

/** Records of an interval and level. */
export type CellList = readonly (readonly [startMs: number, level: number, records: number])[];

export class Cells {
  readonly #counts = new Map<number, number>();
  readonly #intervalMs: number;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(timeMs: number, level: number, records: number): void {
    const key = Math.floor(timeMs / this.#intervalMs) * levels.length + level;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + records);
  }

  list(): CellList {
    const cellOf = ([key, records]: [number, number]) =>
      [Math.floor(key / levels.length) * this.#intervalMs, key % levels.length, records] as const;
    return [...this.#counts].map(cellOf);
  }
}

export interface CountedBlocks {
  readonly blocks: number;
  readonly cells: CellList;
}

export const countRecords: ScanTask<CountArgs, CountedBlocks> = {
  source: import.meta.url,
  id: 'countRecords',
  run(blocks, { question, intervalMs }) {
    const cells = new Cells(intervalMs);
    for (const block of blocks) {
      const log = new StoredLog(block);
      const matcher = new Matcher(log, question);
      for (let record = matcher.first; record < matcher.end; record += 1) {
        if (matcher.matches(record)) cells.add(log.times[record] as number, log.levels[record] as number, 1);
      }
    }
    return { blocks: blocks.length, cells: cells.list() };
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
