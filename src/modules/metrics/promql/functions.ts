// Signatures of the PromQL functions and aggregations: those of Prometheus 2.42 but for native histograms.
import type { NodeType } from './query.ts';

export interface Signature {
  readonly takes: readonly NodeType[];
  /** How many of them may be left out, from the end. */
  readonly optional?: number;
  /** Of further arguments, as many as there are. */
  readonly rest?: NodeType;
}

const range: Signature = { takes: ['range'] };
const vector: Signature = { takes: ['vector'] };
/** Of a vector of times; without it of the time of the step. */
const calendar: Signature = { takes: ['vector'], optional: 1 };

export const functions: Readonly<Record<string, Signature>> = {
  rate: range,
  irate: range,
  increase: range,
  delta: range,
  idelta: range,
  changes: range,
  resets: range,
  deriv: range,
  predict_linear: { takes: ['range', 'scalar'] },
  holt_winters: { takes: ['range', 'scalar', 'scalar'] },
  avg_over_time: range,
  min_over_time: range,
  max_over_time: range,
  sum_over_time: range,
  count_over_time: range,
  last_over_time: range,
  present_over_time: range,
  absent_over_time: range,
  stddev_over_time: range,
  stdvar_over_time: range,
  quantile_over_time: { takes: ['scalar', 'range'] },
  histogram_quantile: { takes: ['scalar', 'vector'] },
  absent: vector,
  scalar: vector,
  vector: { takes: ['scalar'] },
  time: { takes: [] },
  pi: { takes: [] },
  timestamp: vector,
  sort: vector,
  sort_desc: vector,
  minute: calendar,
  hour: calendar,
  day_of_month: calendar,
  day_of_week: calendar,
  day_of_year: calendar,
  days_in_month: calendar,
  month: calendar,
  year: calendar,
  abs: vector,
  ceil: vector,
  floor: vector,
  sgn: vector,
  sqrt: vector,
  exp: vector,
  ln: vector,
  log2: vector,
  log10: vector,
  sin: vector,
  cos: vector,
  tan: vector,
  asin: vector,
  acos: vector,
  atan: vector,
  sinh: vector,
  cosh: vector,
  tanh: vector,
  asinh: vector,
  acosh: vector,
  atanh: vector,
  rad: vector,
  deg: vector,
  round: { takes: ['vector', 'scalar'], optional: 1 },
  clamp: { takes: ['vector', 'scalar', 'scalar'] },
  clamp_min: { takes: ['vector', 'scalar'] },
  clamp_max: { takes: ['vector', 'scalar'] },
  label_replace: { takes: ['vector', 'string', 'string', 'string', 'string'] },
  label_join: { takes: ['vector', 'string', 'string'], rest: 'string' },
};

/** They answer a number at each step; the others a vector. */
export const scalarFunctions: ReadonlySet<string> = new Set(['scalar', 'time', 'pi']);

/** What each takes before the vector. */
export const aggregations: Readonly<Record<string, 'scalar' | 'string' | null>> = {
  sum: null,
  avg: null,
  min: null,
  max: null,
  count: null,
  group: null,
  stddev: null,
  stdvar: null,
  topk: 'scalar',
  bottomk: 'scalar',
  quantile: 'scalar',
  count_values: 'string',
};
