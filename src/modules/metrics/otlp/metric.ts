// An OTLP metric as both parsers produce it (opentelemetry-proto 1.7, metrics.proto): one point at a time, without fields that are not stored.
import type { OtlpAttributes } from '../../../lib/otlp/values.ts';

export type MetricKind = 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';

export interface OtlpMetric {
  name: string;
  description: string;
  unit: string;
  kind: MetricKind | null;
  /** Of sums and histograms. */
  isDelta: boolean;
  isMonotonic: boolean;
  points: OtlpPoint[];
}

export interface OtlpPoint {
  attributes: OtlpAttributes;
  timeMs: number;
  /** Its program says that there is no value any more. */
  isGone: boolean;
  value: number;
  count: number;
  sum: number | null;
  /** Of each bucket alone. */
  bucketCounts: number[];
  bounds: number[];
  quantiles: (readonly [quantile: number, value: number])[];
}

export function emptyMetric(): OtlpMetric {
  return { name: '', description: '', unit: '', kind: null, isDelta: false, isMonotonic: false, points: [] };
}

export function emptyPoint(): OtlpPoint {
  return {
    attributes: new Map(),
    timeMs: 0,
    isGone: false,
    value: 0,
    count: 0,
    sum: null,
    bucketCounts: [],
    bounds: [],
    quantiles: [],
  };
}

/** AggregationTemporality. */
export const DELTA = 1;
/** DataPointFlags. */
export const NO_RECORDED_VALUE = 1;
/** Of one point of a histogram. */
export const BUCKETS_MAX = 1_000;
