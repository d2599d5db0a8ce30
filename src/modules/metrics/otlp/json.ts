// Parser of OTLP's ExportMetricsServiceRequest in JSON.
import { jsonOfBody } from '../../../kit/telemetry.ts';
import {
  attributesOf,
  type JsonMembers,
  listOf,
  membersOf,
  nanosAsMs,
  numberOf,
  resourceOf,
  textOf,
} from '../../../lib/otlp/json.ts';
import { OtlpBudget, OtlpError } from '../../../lib/otlp/values.ts';
import type { SampleBatch } from '../intake/batch.ts';
import {
  BUCKETS_MAX,
  DELTA,
  emptyMetric,
  emptyPoint,
  type MetricKind,
  NO_RECORDED_VALUE,
  type OtlpMetric,
  type OtlpPoint,
} from './metric.ts';
import { Translation } from './translate.ts';

/** Throws OtlpError. */
export function readMetricsJson(body: Buffer, nowMs: number): SampleBatch {
  const [translation, budget] = [new Translation(nowMs), new OtlpBudget()];
  const { resourceMetrics } = membersOf(jsonOfBody(body), 'the body');
  for (const each of listOf(resourceMetrics, 'resourceMetrics')) {
    const { resource, scopeMetrics } = membersOf(each, 'an entry of resourceMetrics');
    translation.beginResource(resourceOf(resource, budget));
    for (const scope of listOf(scopeMetrics, 'scopeMetrics')) {
      const { metrics } = membersOf(scope, 'an entry of scopeMetrics');
      for (const metric of listOf(metrics, 'metrics'))
        translation.metric(metricOf(membersOf(metric, 'a metric'), budget));
    }
    translation.endResource();
  }
  return translation.build(body.length);
}

const kinds: Readonly<Record<string, MetricKind>> = {
  gauge: 'gauge',
  sum: 'sum',
  histogram: 'histogram',
  exponentialHistogram: 'exponential_histogram',
  summary: 'summary',
};

function metricOf(members: JsonMembers, budget: OtlpBudget): OtlpMetric {
  const metric = emptyMetric();
  metric.name = textOf(members.name, 'name');
  metric.description = textOf(members.description, 'description');
  metric.unit = textOf(members.unit, 'unit');
  for (const [name, kind] of Object.entries(kinds)) {
    if (members[name] === undefined || members[name] === null) continue;
    const { dataPoints, aggregationTemporality, isMonotonic } = membersOf(members[name], name);
    metric.kind = kind;
    metric.isDelta = aggregationTemporality === DELTA || aggregationTemporality === 'AGGREGATION_TEMPORALITY_DELTA';
    metric.isMonotonic = isMonotonic === true;
    metric.points = listOf(dataPoints, 'dataPoints').map((point) => pointOf(membersOf(point, 'a data point'), budget));
  }
  return metric;
}

function pointOf(members: JsonMembers, budget: OtlpBudget): OtlpPoint {
  budget.take();
  const point = emptyPoint();
  point.attributes = attributesOf(members.attributes, 'attributes', budget);
  point.timeMs = nanosAsMs(members.timeUnixNano, 'timeUnixNano');
  point.isGone = (numberOf(members.flags, 'flags') & NO_RECORDED_VALUE) !== 0;
  point.value = numberOf(members.asDouble ?? members.asInt, 'asDouble');
  point.count = numberOf(members.count, 'count');
  point.sum = members.sum === undefined || members.sum === null ? null : numberOf(members.sum, 'sum');
  point.bucketCounts = numbers(members.bucketCounts, 'bucketCounts');
  point.bounds = numbers(members.explicitBounds, 'explicitBounds');
  point.quantiles = few(members.quantileValues, 'quantileValues').map((each) => {
    const { quantile, value } = membersOf(each, 'an entry of quantileValues');
    return [numberOf(quantile, 'quantile'), numberOf(value, 'value')] as const;
  });
  return point;
}

function numbers(value: unknown, name: string): number[] {
  return few(value, name).map((each) => numberOf(each, name));
}

function few(value: unknown, name: string): readonly unknown[] {
  const list = listOf(value, name);
  if (list.length > BUCKETS_MAX) throw new OtlpError(`${name} has more than ${BUCKETS_MAX} entries`);
  return list;
}
