// From a filter to the rows that pass it, before anything is scored.
import type { Condition, Filter } from '../port.ts';
import { type Bitmap, bitmapFor, clearBit, listBits } from './bitmap.ts';
import type { Postings } from './postings.ts';
import { kinds, LONG_TEXT_KEPT_BYTES, type Values } from './values.ts';

/** Thrown when what is kept of long texts does not decide: the rows themselves must be read. */
export class Undecided extends Error {}

/** Rows tested one by one when a chain is this many times longer than what is left. */
const CHAIN_COSTS = 8;

interface Resolved {
  readonly codes: readonly number[];
  /** Rows that hold none of the codes pass. */
  readonly without: boolean;
  readonly rows: number;
}

/** The rows that pass. @param alive all rows; @param size one more than the highest row number */
export function resolveFilter(filter: Filter, postings: Postings, alive: Bitmap, size: number): Bitmap {
  const resolved = filter.map((condition) => resolve(condition, postings));
  resolved.sort((a, b) => Number(a.without) - Number(b.without) || a.rows - b.rows);
  let passed: { bitmap: Bitmap; rows: number } | undefined;
  for (const one of resolved) {
    if (passed === undefined && !one.without) passed = { bitmap: marked(one.codes, postings, size), rows: one.rows };
    else {
      passed ??= { bitmap: alive.slice(0, (size + 31) >>> 5), rows: size };
      if (one.rows > passed.rows * CHAIN_COSTS) testEach(passed.bitmap, one, postings, size);
      else combine(passed.bitmap, one, postings, size);
    }
  }
  return passed?.bitmap ?? alive.slice(0, (size + 31) >>> 5);
}

function resolve(condition: Condition, postings: Postings): Resolved {
  const codes = codesFor(condition, postings.values);
  const rows = codes.reduce((sum, code) => sum + postings.countOf(code), 0);
  const without = condition.op === 'ne' || (condition.op === 'exists' && !condition.value);
  return { codes, without, rows };
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
      return ordered(condition.op, condition.value, values, key);
  }
}

type Order = 'gt' | 'gte' | 'lt' | 'lte';

function ordered(op: Order, operand: number | string, values: Values, key: string): number[] {
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

/** Unlike a difference it holds for infinities, which JSON numbers out of range become. */
export const compareNumbers = (a: number, b: number) => Number(a > b) - Number(a < b);

function compareLong(kept: Uint8Array, text: Buffer): number {
  const beginning = kept.subarray(0, LONG_TEXT_KEPT_BYTES);
  const difference = Buffer.compare(beginning, text.subarray(0, LONG_TEXT_KEPT_BYTES));
  if (difference === 0 && text.length >= LONG_TEXT_KEPT_BYTES) throw new Undecided();
  return difference;
}

export function satisfies(op: Order, difference: number): boolean {
  if (op === 'gt') return difference > 0;
  if (op === 'gte') return difference >= 0;
  return op === 'lt' ? difference < 0 : difference <= 0;
}

function marked(codes: readonly number[], postings: Postings, size: number): Bitmap {
  const bitmap = bitmapFor(size);
  for (const code of codes) postings.mark(code, bitmap);
  return bitmap;
}

function combine(passed: Bitmap, { codes, without }: Resolved, postings: Postings, size: number): void {
  const bitmap = marked(codes, postings, size);
  for (let word = 0; word < passed.length; word += 1) {
    const other = bitmap[word] as number;
    passed[word] = (passed[word] as number) & (without ? ~other : other);
  }
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
