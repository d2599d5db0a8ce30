// Resolves a filter to the set of rows that pass, before any row is scored.
import { compareNumbers, type Order, satisfies } from '../../passes.ts';
import type { Condition, Filter } from '../../port.ts';
import { type Bitmap, bitmapFor, clearBit, keepBits, listBits, takeBits } from './bitmap.ts';
import type { Postings } from './postings.ts';
import { kinds, LONG_TEXT_KEPT_BYTES, type Values } from './values.ts';

/** Thrown when what is kept of long texts does not decide: the rows themselves must be read. */
export class Undecided extends Error {}

/** Rows tested one by one when the chains to walk are this many times longer than what is left. */
const CHAIN_COSTS = 8;

interface Resolved {
  readonly codes: readonly number[];
  /** Rows that hold none of the codes pass. */
  readonly without: boolean;
  readonly rows: number;
  /** Entries of chains to walk: those of codes without a bitmap. */
  readonly chained: number;
}

/**
 * The rows that pass: to be read until the next change, rows beyond its end do not pass.
 * @param alive all rows
 * @param size one more than the highest row number
 */
export function resolveFilter(filter: Filter, postings: Postings, alive: Bitmap, size: number): Uint32Array {
  const resolved = filter.map((condition) => resolve(condition, postings));
  resolved.sort((a, b) => Number(a.without) - Number(b.without) || a.rows - b.rows);
  const [first, ...others] = resolved;
  if (first === undefined || first.without) {
    const passed = alive.slice(0, (size + 31) >>> 5);
    for (const one of resolved) narrow(passed, size, one, postings, size);
    return passed;
  }
  if (others.length === 0) return rowsOf(first.codes, postings, size);
  const passed = bitmapOf(first.codes, postings, size);
  for (const one of others) narrow(passed, first.rows, one, postings, size);
  return passed;
}

function resolve(condition: Condition, postings: Postings): Resolved {
  const codes = codesFor(condition, postings.values);
  let rows = 0;
  let chained = 0;
  for (const code of codes) {
    const count = postings.countOf(code);
    rows += count;
    if (postings.bitmapOf(code) === undefined) chained += count;
  }
  const without = condition.op === 'ne' || (condition.op === 'exists' && !condition.value);
  return { codes, without, rows, chained };
}

function codesFor(condition: Condition, values: Values): number[] {
  const { key } = condition;
  switch (condition.op) {
    case 'eq':
    case 'ne':
      return [values.find(key, condition.value)].filter((code) => code !== undefined);
    case 'in': {
      const found = condition.values.map((value) => values.find(key, value));
      return [...new Set(found.filter((code) => code !== undefined))];
    }
    case 'exists':
      return [...values.codesOf(key)];
    default:
      return codesInOrder(condition.op, condition.value, values, key);
  }
}

function codesInOrder(op: Order, operand: number | string, values: Values, key: string): number[] {
  const text = typeof operand === 'string' ? Buffer.from(operand) : undefined;
  const codes: number[] = [];
  for (const code of values.codesOf(key)) {
    const kind = values.kindOf(code);
    let difference: number;
    if (text === undefined) {
      if (kind !== kinds.number) continue;
      difference = compareNumbers(values.numberOf(code), operand as number);
    } else if (kind === kinds.text) difference = Buffer.compare(values.textOf(code), text);
    else if (kind === kinds.longText) difference = compareLong(values.textOf(code), text);
    else continue;
    if (satisfies(op, difference)) codes.push(code);
  }
  return codes;
}

function compareLong(kept: Uint8Array, text: Buffer): number {
  const beginning = kept.subarray(0, LONG_TEXT_KEPT_BYTES);
  const difference = Buffer.compare(beginning, text.subarray(0, LONG_TEXT_KEPT_BYTES));
  if (difference === 0 && text.length >= LONG_TEXT_KEPT_BYTES) throw new Undecided();
  return difference;
}

/** Not to be written: it may be the value's own. */
function rowsOf(codes: readonly number[], postings: Postings, size: number): Uint32Array {
  const kept = codes.length === 1 ? postings.bitmapOf(codes[0] as number) : undefined;
  return kept?.subarray(0, (size + 31) >>> 5) ?? bitmapOf(codes, postings, size);
}

function bitmapOf(codes: readonly number[], postings: Postings, size: number): Bitmap {
  const bitmap = bitmapFor(size);
  for (const code of codes) postings.mark(code, bitmap);
  return bitmap;
}

/** Takes out what does not pass a further condition. @param rows how many are left, about */
function narrow(passed: Bitmap, rows: number, one: Resolved, postings: Postings, size: number): void {
  if (one.chained > rows * CHAIN_COSTS) testEach(passed, one, postings, size);
  else if (one.without) takeBits(passed, rowsOf(one.codes, postings, size));
  else keepBits(passed, rowsOf(one.codes, postings, size));
}

function testEach(passed: Bitmap, { codes, without }: Resolved, postings: Postings, size: number): void {
  const wanted = new Set(codes);
  const rows = new Uint32Array(32);
  for (let start = 0; start < size; start += 32) {
    if (passed[start >>> 5] === 0) continue;
    const count = listBits(passed, start, start + 32, rows, 0);
    for (const row of rows.subarray(0, count))
      if (postings.rowHasOneOf(start + row, wanted) === without) clearBit(passed, start + row);
  }
}
