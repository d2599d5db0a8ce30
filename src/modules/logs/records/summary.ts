// Summary of a block, readable without its records: counts by minute and level, by service, and by attribute name.
import { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';
import { levels } from './levels.ts';

export const MINUTE_MS = 60_000;
/** Of services and of attributes: of more, the most frequent are kept. */
const SERVICES_MAX = 50;
const NAMES_MAX = 200;
const TEXT_BYTES_MAX = 128;

/** How many records have a value. */
export type Counts = Map<string, number>;

export interface Summary {
  /** Calls `see` for each minute and level with records. */
  eachCell(see: (minuteMs: number, level: number, records: number) => void): void;
  /** As bits. */
  readonly levels: number;
  readonly services: Counts;
  readonly names: Counts;
  /** Whether all services, and all names, are there. */
  readonly hasAllServices: boolean;
  readonly hasAllNames: boolean;
}

/** `times` ascending. */
export function packSummary(
  times: readonly number[],
  levelsOf: readonly number[],
  services: Counts,
  names: Counts,
): Buffer {
  const out = new ByteWriter();
  const cells = new Map<number, number[]>();
  let all = 0;
  for (const [i, time] of times.entries()) {
    const minute = Math.floor(time / MINUTE_MS);
    let counts = cells.get(minute);
    if (counts === undefined) {
      counts = levels.map(() => 0);
      cells.set(minute, counts);
    }
    const level = levelsOf[i] as number;
    counts[level] = (counts[level] as number) + 1;
    all |= 1 << level;
  }
  out.varint(all);
  out.varint(cells.size);
  let before = 0;
  for (const [minute, counts] of cells) {
    out.varint(minute - before);
    before = minute;
    for (const count of counts) out.varint(count);
  }
  writeCounts(out, services, SERVICES_MAX);
  writeCounts(out, names, NAMES_MAX);
  return Buffer.from(out.writtenBytes());
}

function writeCounts(out: ByteWriter, counts: Counts, entriesMax: number): void {
  const short = [...counts].filter(([text]) => Buffer.byteLength(text) <= TEXT_BYTES_MAX);
  const kept = short.length <= entriesMax ? short : short.sort(([, a], [, b]) => b - a).slice(0, entriesMax);
  out.varint(kept.length === counts.size ? 1 : 0);
  out.varint(kept.length);
  for (const [text, count] of kept) {
    out.varint(Buffer.byteLength(text));
    out.text(text);
    out.varint(count);
  }
}

export function readSummary(packed: Uint8Array): Summary {
  const source = new ByteReader(packed);
  const all = source.varint();
  const cells = source.varint();
  const numbers: number[] = [];
  let minute = 0;
  for (let i = 0; i < cells; i += 1) {
    minute += source.varint();
    numbers.push(minute);
    for (let level = 0; level < levels.length; level += 1) numbers.push(source.varint());
  }
  const [hasAllServices, services] = readCounts(source);
  const [hasAllNames, names] = readCounts(source);
  return { eachCell: (see) => eachCell(numbers, see), levels: all, services, names, hasAllServices, hasAllNames };
}

/** The levels alone, as bits. */
export function levelsIn(packed: Buffer): number {
  return new ByteReader(packed).varint();
}

function eachCell(numbers: readonly number[], see: (minuteMs: number, level: number, records: number) => void): void {
  const width = levels.length + 1;
  for (let at = 0; at < numbers.length; at += width) {
    for (let level = 0; level < levels.length; level += 1) {
      const records = numbers[at + 1 + level] as number;
      if (records > 0) see((numbers[at] as number) * MINUTE_MS, level, records);
    }
  }
}

function readCounts(source: ByteReader): readonly [boolean, Counts] {
  const isAll = source.varint() === 1;
  const counts: Counts = new Map();
  for (let left = source.varint(); left > 0; left -= 1) {
    const text = source.bytes(source.varint()).toString('utf8');
    counts.set(text, source.varint());
  }
  return [isAll, counts];
}
