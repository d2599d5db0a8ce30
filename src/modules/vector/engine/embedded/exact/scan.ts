// The first pass over one part of a collection.

import { hasBit } from '../filter/bitmap.ts';
import { CANDIDATE_BYTES, CANDIDATES_AT, LIST_AT, QUERY_INT16_AT } from '../kernel/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { Candidates } from './candidates.ts';

/** How a first pass goes through rows of which not all may match. */
export const walks = {
  /** Looks at all of them, and leaves out afterwards what did not pass. */
  all: 0,
  /** Looks at those that passed, and reads through what lies between them, so that the processor goes on fetching ahead. */
  through: 1,
  /** Looks at those that passed, and leaps over what lies between them. */
  leaping: 2,
} as const;
export type Walk = (typeof walks)[keyof typeof walks];

export interface Scan {
  /** Bytes of a small copy. */
  readonly stride: number;
  readonly query: { readonly int16: Int16Array; readonly scale: number; readonly norm: number; readonly slack: number };
  readonly isEuclidean: boolean;
  /** The rows that may match; null: all. */
  readonly passed: Uint32Array | null;
  /** Without `passed`: all. */
  readonly walk: Walk;
}

/** Small copies that lie in one piece. */
export interface Part {
  readonly arena: Arena;
  /** Byte offset of the first. */
  readonly small: number;
  /** Number of its row. */
  readonly start: number;
  readonly count: number;
}

/** Rows looked at before there is a threshold, for each that is asked for: what they leave out of the others is far more. */
const FIRST_ROWS = 16;

export function scanPart(part: Part, scan: Scan, candidates: Candidates): void {
  const { arena, start, count } = part;
  const { query, passed, walk } = scan;
  const listed = walk !== walks.all && passed !== null;
  const rows = listed ? listRows(passed, start, start + count, arena) : count;
  if (rows === 0) return;
  arena.int16.set(query.int16, QUERY_INT16_AT / 2);
  const first = candidates.isOpen ? Math.min(rows, candidates.wanted * FIRST_ROWS) : 0;
  if (first > 0) scanRows(part, scan, candidates, 0, first);
  if (first < rows) scanRows(part, scan, candidates, first, rows);
}

/** Lists the rows of a part that passed, and answers how many they are: by the kernel in a third of the time that JavaScript takes. */
function listRows(passed: Uint32Array, start: number, end: number, { kernel, uint32 }: Arena): number {
  const words = passed.subarray(start >>> 5, (end + 31) >>> 5);
  // where the candidates will be
  const first = CANDIDATES_AT / 4;
  uint32.set(words, first);
  uint32[first] = (uint32[first] as number) & (-1 << (start & 31));
  const last = (end - 1) >>> 5;
  const beyond = end & 31;
  if (beyond !== 0 && (start >>> 5) + words.length > last) {
    const at = first + last - (start >>> 5);
    uint32[at] = (uint32[at] as number) & ~(-1 << beyond);
  }
  return kernel.list(first * 4, words.length, start & 31, LIST_AT);
}

/** From row `from` of the part, or of the list of its rows, up to `to`. */
function scanRows(
  { arena, small, start }: Part,
  { stride, query, isEuclidean, passed, walk }: Scan,
  candidates: Candidates,
  from: number,
  to: number,
): void {
  const { uint32, float64 } = arena;
  const listed = walk !== walks.all;
  const skipped = listed ? 0 : from;
  const found = arena.kernel.scan(
    small + skipped * stride,
    stride,
    listed ? LIST_AT + from * 4 : 0,
    walk === walks.through ? 1 : 0,
    to - from,
    QUERY_INT16_AT,
    query.scale,
    query.norm,
    query.slack,
    isEuclidean ? 1 : 0,
    candidates.threshold,
    CANDIDATES_AT,
  );
  for (let i = 0, at = CANDIDATES_AT; i < found; i += 1, at += CANDIDATE_BYTES) {
    const row = start + skipped + (uint32[at / 4] as number);
    if (passed !== null && !listed && !hasBit(passed, row)) continue;
    candidates.offer(row, float64[at / 8 + 1] as number, float64[at / 8 + 2] as number);
  }
}
