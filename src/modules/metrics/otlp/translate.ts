// Translates OTLP metrics to Prometheus series: a histogram becomes one series for each bucket, beside _sum and _count. Points of delta
// temporality are added up per series when they are stored; exponential histograms are refused.
import { type OtlpAttributes, OtlpError } from '../../../lib/otlp/values.ts';
import { BatchBuilder, type SampleBatch } from '../intake/batch.ts';
import { LONG_BYTES } from '../intake/native.ts';
import { seriesFrom } from '../intake/series-from.ts';
import { type MetricType, SAMPLES_MAX } from '../limits.ts';
import { valueText } from '../query/result.ts';
import { NAME_LABEL } from '../series/identity.ts';
import type { OtlpMetric, OtlpPoint } from './metric.ts';
import { labelsFrom, metricName, targetOf } from './names.ts';

/** Prometheus' value.StaleNaN, the lower half first. */
const STALE_LOW = 2;
const STALE_HIGH = 0x7ff00000;

/** Takes the metrics of one request. */
export class Translation {
  readonly #builder: BatchBuilder;
  #target: ReturnType<typeof targetOf> = { identity: new Map(), info: new Map() };
  #latestMs = 0;

  constructor(nowMs: number) {
    this.#builder = new BatchBuilder(nowMs);
  }

  /** What follows, until `endResource`, is of this resource. */
  beginResource(resource: OtlpAttributes): void {
    this.#target = targetOf(resource);
    this.#latestMs = 0;
  }

  /** A resource that says more than its identity says it in a series of its own. */
  endResource(): void {
    const { identity, info } = this.#target;
    if (identity.size === 0 || info.size === 0 || this.#latestMs === 0) return;
    const series = seriesFrom([...new Map([...info, ...identity]), [NAME_LABEL, 'target_info']]);
    if (typeof series === 'string') return;
    this.#builder.describe({ name: 'target_info', type: 'gauge', help: 'Target metadata', unit: null });
    this.#builder.add(this.#builder.seriesOf(series), this.#latestMs, 1, -1);
  }

  metric(metric: OtlpMetric): void {
    const { kind, points, description, unit } = metric;
    const name = metricName(metric);
    if (kind === null || points.length === 0) return;
    if (kind === 'exponential_histogram') {
      this.#builder.refuse(
        this.#builder.countSent(points.length),
        'exponential histograms are not kept',
        points.length,
      );
      return;
    }
    this.#builder.describe({ name, type: typeOf(metric), help: description, unit: unit === '1' ? null : unit });
    for (const point of points) this.#point(name, metric, point);
  }

  build(bytes: number): SampleBatch {
    return this.#builder.build(bytes > LONG_BYTES);
  }

  #point(name: string, { kind, isDelta }: OtlpMetric, point: OtlpPoint): void {
    const index = this.#builder.countSent(1);
    const base = new Map([...labelsFrom(point.attributes), ...this.#target.identity]);
    const hasTotal = isDelta && (kind === 'sum' || kind === 'histogram');
    const add = (suffix: string, value: number, label?: readonly [string, string]) =>
      this.#add(index, name + suffix, label === undefined ? base : new Map([...base, label]), point, value, hasTotal);
    this.#latestMs = Math.max(this.#latestMs, point.timeMs);
    if (kind === 'gauge' || kind === 'sum') {
      add('', point.value);
      return;
    }
    const { bucketCounts, bounds, quantiles, count, sum } = point;
    if (kind === 'summary')
      for (const [quantile, value] of quantiles) add('', value, ['quantile', valueText(quantile)]);
    else {
      let below = 0;
      for (const [i, bound] of bounds.entries()) {
        below += bucketCounts[i] ?? 0;
        add('_bucket', below, ['le', valueText(bound)]);
      }
      add('_bucket', count, ['le', '+Inf']);
    }
    if (sum !== null) add('_sum', sum);
    add('_count', count);
  }

  #add(
    index: number,
    name: string,
    labels: ReadonlyMap<string, string>,
    { timeMs, isGone }: OtlpPoint,
    value: number,
    hasTotal: boolean,
  ) {
    const builder = this.#builder;
    if (builder.samples >= SAMPLES_MAX) throw new OtlpError(`it makes more than ${SAMPLES_MAX} samples`);
    const series = seriesFrom([...labels, [NAME_LABEL, name]]);
    if (typeof series === 'string') {
      builder.refuse(index, series);
      return;
    }
    if (isGone && hasTotal) return;
    const place = builder.seriesOf(series, hasTotal);
    if (isGone) builder.addBits(place, timeMs, STALE_LOW, STALE_HIGH, index);
    else builder.add(place, timeMs, value, index);
  }
}

function typeOf({ kind, isMonotonic }: OtlpMetric): MetricType {
  if (kind === 'sum') return isMonotonic ? 'counter' : 'gauge';
  return kind === 'histogram' || kind === 'summary' ? kind : 'gauge';
}
