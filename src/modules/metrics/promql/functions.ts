// Signatures of the supported PromQL functions and aggregations.
import type { NodeType } from './query.ts';

export interface Signature {
  readonly takes: readonly NodeType[];
  /** How many of them may be left out, from the end. */
  readonly optional?: number;
}

const overRange: Signature = { takes: ['range'] };

/** Each answers a vector. */
export const functions: Readonly<Record<string, Signature>> = {
  rate: overRange,
  irate: overRange,
  increase: overRange,
  delta: overRange,
  avg_over_time: overRange,
  min_over_time: overRange,
  max_over_time: overRange,
  sum_over_time: overRange,
  count_over_time: overRange,
  last_over_time: overRange,
  present_over_time: overRange,
  stddev_over_time: overRange,
  stdvar_over_time: overRange,
  quantile_over_time: { takes: ['scalar', 'range'] },
  histogram_quantile: { takes: ['scalar', 'vector'] },
  ceil: { takes: ['vector'] },
  floor: { takes: ['vector'] },
  round: { takes: ['vector', 'scalar'], optional: 1 },
  clamp: { takes: ['vector', 'scalar', 'scalar'] },
  clamp_min: { takes: ['vector', 'scalar'] },
  clamp_max: { takes: ['vector', 'scalar'] },
  label_replace: { takes: ['vector', 'string', 'string', 'string', 'string'] },
};

/** True: it takes a number before the vector. */
export const aggregations: Readonly<Record<string, boolean>> = {
  sum: false,
  avg: false,
  min: false,
  max: false,
  count: false,
  group: false,
  stddev: false,
  stdvar: false,
  topk: true,
  bottomk: true,
  quantile: true,
};
