// The WebAssembly kernel on one memory, and the layout of its arguments. A search writes its query and lists into the first block of each arena.
import { kernelBinary } from './kernel-binary.ts';

/** The functions of kernel.wat; pointers are byte offsets, `out` and `list` as said there. */
export interface Kernel {
  /** Whether `scan` multiplies by digits of the query; chosen for this processor. */
  readonly digits: WebAssembly.Global;
  scan(
    rows: number,
    stride: number,
    list: number,
    through: number,
    count: number,
    query: number,
    queryScale: number,
    queryNorm: number,
    querySlack: number,
    squared: number,
    threshold: number,
    out: number,
  ): number;
  list(words: number, count: number, before: number, out: number): number;
  dot(row: number, query: number, bytes: number): number;
  squaredNorm(row: number, bytes: number): number;
  squaredDistance(row: number, query: number, bytes: number): number;
  largest(row: number, bytes: number): number;
  quantize(row: number, bytes: number, target: number, inverse: number, factor: number, scale: number): number;
  read(from: number, bytes: number): number;
}

export const DIMENSION_MAX = 4096;
/** Rows one call of `scan` may look at. */
export const SCAN_ROWS_MAX = 8192;
export const CANDIDATE_BYTES = 24;

/** Offsets of the arguments within an arena's first block: the query as int16, its digits, the query as f64, a list of rows, the candidates. */
export const QUERY_INT16_AT = 0;
export const QUERY_F64_AT = QUERY_INT16_AT + DIMENSION_MAX * 4;
export const LIST_AT = QUERY_F64_AT + DIMENSION_MAX * 8;
export const CANDIDATES_AT = LIST_AT + SCAN_ROWS_MAX * 4;
export const SCRATCH_BYTES = CANDIDATES_AT + SCAN_ROWS_MAX * CANDIDATE_BYTES;

let compiled: WebAssembly.Module | undefined;

/** @param memory at least one page. */
export function instantiate(memory: WebAssembly.Memory): Kernel {
  compiled ??= new WebAssembly.Module(Buffer.from(kernelBinary, 'base64'));
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel;
}
