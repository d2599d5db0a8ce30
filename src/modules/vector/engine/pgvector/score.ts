// Error bounds of pgvector's f32 arithmetic: what its distances prove about true scores.
import type { Metric } from '../port.ts';
import type { Query } from '../score.ts';

// Sums of at most 4,096 squares, products or differences of such vectors neither overflow f32 nor lose to its smallest number.
const NORM_MIN = 1e-15;
const NORM_MAX = 1e15;
/** Half a unit in the last place of f32. */
const ROUNDING = 2 ** -24;
/** Above what squares below the smallest f32 can add up to, as a distance. */
const DISTANCE_LOST = 1e-20;

/** Whether f32 arithmetic holds its bounds on vectors of this norm. */
export const isPlain = (norm: number) => norm === 0 || (norm >= NORM_MIN && norm <= NORM_MAX);

/** pgvector's distance, less is nearer, of a score. */
export const toDistance = (metric: Metric, score: number) => (metric === 'cosine' ? 1 - score : -score);

/** The true distance of a row of norm |x| is at least `d * factor - shift - perNorm * |x|`, where pgvector computed d. */
export interface Bound {
  readonly factor: number;
  readonly shift: number;
  readonly perNorm: number;
}

/**
 * A sum of n products in f32, in any order, is off by at most n u / (1 - n u) times the sum of their sizes, u = 2^-24 (Higham,
 * Accuracy and Stability of Numerical Algorithms, 3.1), which is at most |x| |q|. All three are taken twice as wide as that gives.
 */
export function boundOf(metric: Metric, { vector, norm }: Query): Bound {
  const terms = (vector.length + 4) * ROUNDING;
  const error = (2 * terms) / (1 - terms);
  if (metric === 'euclidean') return { factor: 1 - error, shift: DISTANCE_LOST, perNorm: 0 };
  // the product's own error and that of two norms
  if (metric === 'cosine') return { factor: 1, shift: 2 * error, perNorm: 0 };
  return { factor: 1, shift: 0, perNorm: error * norm };
}
