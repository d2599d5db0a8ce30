// Quantization of rows for the first pass: the small copy of a row, and the bounds that make a search over it exact.
//
// Write x = s c + r (s: f32 scale, c: int8, r: the residual) and q = t d + e (t: f64 scale, d: int16, e: the residual). Then
//   x . q - s t (c . d) = s c . e + r . q,   |s c . e| <= (|x| + |r|) |e|,   |r . q| <= |r| |q|
// by Cauchy-Schwarz. r and e are taken from the values as they were rounded, in f64, and rounded up: however badly a row is
// rounded, the bounds hold. What f64 itself rounds (at most 4,096 x 2^-53 of |x| |q|) is below the 1e-11 that `slack` adds.
import { DIMENSION_MAX, type Kernel } from '../kernel/kernel.ts';

export const ROW_HEADER_BYTES = 16;
const INT8_MAX = 127;
// 127 x 4,095 x 4,096 products is the most that still fits an i32.
const QUERY_MAX = 4095;
const ROUNDING = 1e-11;
/** Beyond these norms the f32 fields of the header lose their precision: such rows are always looked at exactly. */
const NORM_MAX = 1e30;
const NORM_MIN = 1e-30;
/** Finite as f32. */
const INVERSE_MAX = 3e38;
/** More than one row's norm is from another's; keeps infinity times the norm of a zero query infinite. */
const QUERY_NORM_MIN = 1e-300;

/** Bytes of one row in the first pass: the kernel reads 32 values at a time. */
export const smallStride = (dimension: number) => ROW_HEADER_BYTES + Math.ceil(dimension / 32) * 32;

/** Bytes of an f32 row, padded with zeros. */
export const largeStride = (dimension: number) => Math.ceil(dimension / 16) * 64;

const bits = new DataView(new ArrayBuffer(4));

/** The least f32 that is not below a value ≥ 0. */
export function roundUp(value: number): number {
  const rounded = Math.fround(value);
  if (rounded >= value) return rounded;
  bits.setFloat32(0, rounded);
  bits.setUint32(0, bits.getUint32(0) + 1);
  return bits.getFloat32(0);
}

interface Target {
  readonly kernel: Kernel;
  readonly int8: Int8Array;
  readonly float32: Float32Array;
}

/**
 * Writes the small copy of a row. Under cosine it is that of the row divided by its norm.
 * In the kernel, since a load makes one of every row: 3 µs for 768 values, 12 in JavaScript.
 * @param from byte offset of the row, which is padded with zeros to 64 bytes
 * @param at byte offset of the copy, a multiple of 16
 */
export function quantizeRow(target: Target, from: number, at: number, dimension: number, cosine: boolean): void {
  const { kernel, int8, float32 } = target;
  const bytes = largeStride(dimension);
  const max = kernel.largest(from, bytes);
  const norm = Math.sqrt(kernel.squaredNorm(from, bytes));
  const unit = cosine && norm > 0 ? norm : 1;
  const outlier = !cosine && norm > 0 && (norm < NORM_MIN || norm > NORM_MAX);
  const scale = outlier ? 0 : Math.fround(max / INT8_MAX / unit);
  const inverse = scale === 0 ? 0 : Math.min(INT8_MAX / max, INVERSE_MAX);
  const values = at + ROW_HEADER_BYTES;
  const left = kernel.quantize(from, bytes, values, inverse, 1 / unit, scale);
  int8.fill(0, values + bytes / 4, at + smallStride(dimension));
  const header = at / 4;
  float32[header] = scale;
  float32[header + 1] = outlier ? Number.POSITIVE_INFINITY : roundUp(Math.sqrt(left) * (1 + 1e-6));
  float32[header + 2] = outlier ? 0 : cosine ? 1 : norm;
}

/** A place without a row: its upper bound is minus infinity. */
export function quantizeNothing(target: Target, at: number, dimension: number): void {
  const header = at / 4;
  target.int8.fill(0, at, at + smallStride(dimension));
  target.float32[header + 1] = Number.NEGATIVE_INFINITY;
}

export interface PreparedQuery {
  /** For the first pass; padded with zeros. */
  readonly int16: Int16Array;
  readonly scale: number;
  readonly norm: number;
  readonly slack: number;
  /** As it was asked; padded with zeros. */
  readonly float64: Float64Array;
  readonly squares: number;
}

export function prepareQuery(vector: Float32Array, cosine: boolean): PreparedQuery {
  const padded = Math.min(DIMENSION_MAX, Math.ceil(vector.length / 32) * 32);
  const float64 = new Float64Array(padded);
  let max = 0;
  let squares = 0;
  // by index: an iterator, and a copy by `set` before, take three times as long
  for (let i = 0; i < vector.length; i += 1) {
    const value = vector[i] as number;
    float64[i] = value;
    max = Math.max(max, Math.abs(value));
    squares += value * value;
  }
  const unit = cosine && squares > 0 ? Math.sqrt(squares) : 1;
  const scale = max / unit / QUERY_MAX;
  const int16 = new Int16Array(padded);
  let left = 0;
  for (let i = 0; i < vector.length && scale > 0; i += 1) {
    const value = (float64[i] as number) / unit;
    const small = Math.max(-QUERY_MAX, Math.min(QUERY_MAX, Math.round(value / scale)));
    int16[i] = small;
    left += (value - scale * small) ** 2;
  }
  const norm = Math.max((Math.sqrt(squares) / unit) * (1 + 1e-12), QUERY_NORM_MIN);
  return { int16, scale, norm, slack: Math.sqrt(left) * (1 + 1e-6) + ROUNDING * norm, float64, squares };
}
