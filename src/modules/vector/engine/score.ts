// Scores as answered: in f64 over the stored f32, summed in one fixed order. So a row has the same score, to the last bit, whoever computes it.
// The order is that of kernel.wat: four sums, of every fourth element, added crosswise.
import type { Match, Metric } from './port.ts';

export interface Query {
  readonly vector: Float32Array;
  readonly norm: number;
}

export function queryOf(vector: Float32Array): Query {
  return { vector, norm: normOf(vector) };
}

export function normOf(vector: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i += 1) squares += (vector[i] as number) * (vector[i] as number);
  return Math.sqrt(squares);
}

/** The score of a row of the query's dimension. */
export function scoreOf(metric: Metric, { vector, norm }: Query, row: Float32Array): number {
  if (metric === 'euclidean') return -Math.sqrt(squaredDistance(row, vector));
  const product = dot(row, vector);
  if (metric === 'dotproduct') return product;
  const norms = Math.sqrt(dot(row, row)) * norm;
  return norms === 0 ? 0 : Math.max(-1, Math.min(1, product / norms));
}

/** Best first, equal scores by id (code units). */
export function compareMatches(a: Match, b: Match): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

function dot(a: Float32Array, b: Float32Array): number {
  const sums: [number, number, number, number] = [0, 0, 0, 0];
  const whole = a.length - (a.length % 4);
  let i = 0;
  for (; i < whole; i += 4) {
    sums[0] += (a[i] as number) * (b[i] as number);
    sums[1] += (a[i + 1] as number) * (b[i + 1] as number);
    sums[2] += (a[i + 2] as number) * (b[i + 2] as number);
    sums[3] += (a[i + 3] as number) * (b[i + 3] as number);
  }
  for (; i < a.length; i += 1) sums[(i % 4) as 0] += (a[i] as number) * (b[i] as number);
  return crosswise(sums);
}

function squaredDistance(a: Float32Array, b: Float32Array): number {
  const sums: [number, number, number, number] = [0, 0, 0, 0];
  const squareAt = (i: number) => {
    const apart = (a[i] as number) - (b[i] as number);
    return apart * apart;
  };
  const whole = a.length - (a.length % 4);
  let i = 0;
  for (; i < whole; i += 4) {
    sums[0] += squareAt(i);
    sums[1] += squareAt(i + 1);
    sums[2] += squareAt(i + 2);
    sums[3] += squareAt(i + 3);
  }
  for (; i < a.length; i += 1) sums[(i % 4) as 0] += squareAt(i);
  return crosswise(sums);
}

const crosswise = ([s0, s1, s2, s3]: readonly [number, number, number, number]) => s0 + s2 + (s1 + s3);
