// Parser of ExportMetricsServiceRequest in protobuf, field by field.
import {
  bytesTag,
  endOf,
  fixed64Tag,
  type OtlpReader,
  readKeyValue,
  readNanosAsMs,
  readProtobuf,
  readResource,
  requireEnd,
  skip,
  varintTag,
} from '../../../lib/otlp/protobuf.ts';
import { type OtlpAttributes, type OtlpBudget, OtlpError } from '../../../lib/otlp/values.ts';
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
export function readMetricsProtobuf(body: Buffer, nowMs: number): SampleBatch {
  const translation = new Translation(nowMs);
  readProtobuf(body, (reader, end, budget) =>
    eachField(reader, end, (tag) => {
      if (tag !== bytesTag(1)) return false;
      readResourceMetrics(reader, endOf(reader, end), budget, translation);
      return true;
    }),
  );
  return translation.build(body.length);
}

/** Reads the fields of a message up to `end`; those that `read` does not take are passed over. */
function eachField(reader: OtlpReader, end: number, read: (tag: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.tag();
    if (!read(tag)) skip(reader, tag);
  }
  requireEnd(reader, end);
}

function readResourceMetrics(reader: OtlpReader, end: number, budget: OtlpBudget, translation: Translation): void {
  let resource: OtlpAttributes = new Map();
  // The resource may stand behind its metrics.
  const metrics: OtlpMetric[] = [];
  eachField(reader, end, (tag) => {
    if (tag === bytesTag(1)) resource = readResource(reader, endOf(reader, end), budget);
    else if (tag === bytesTag(2)) {
      const scopeEnd = endOf(reader, end);
      eachField(reader, scopeEnd, (inner) => {
        if (inner !== bytesTag(2)) return false;
        metrics.push(readMetric(reader, endOf(reader, scopeEnd), budget));
        return true;
      });
    } else return false;
    return true;
  });
  translation.beginResource(resource);
  for (const metric of metrics) translation.metric(metric);
  translation.endResource();
}

const kinds: Readonly<Record<number, MetricKind>> = {
  [bytesTag(5)]: 'gauge',
  [bytesTag(7)]: 'sum',
  [bytesTag(9)]: 'histogram',
  [bytesTag(10)]: 'exponential_histogram',
  [bytesTag(11)]: 'summary',
};

function readMetric(reader: OtlpReader, end: number, budget: OtlpBudget): OtlpMetric {
  const metric = emptyMetric();
  eachField(reader, end, (tag) => {
    const kind = kinds[tag];
    if (tag === bytesTag(1)) metric.name = reader.string();
    else if (tag === bytesTag(2)) metric.description = reader.string();
    else if (tag === bytesTag(3)) metric.unit = reader.string();
    else if (kind !== undefined) {
      metric.kind = kind;
      readData(reader, endOf(reader, end), metric, budget);
    } else return false;
    return true;
  });
  return metric;
}

function readData(reader: OtlpReader, end: number, metric: OtlpMetric, budget: OtlpBudget): void {
  const read = metric.kind === 'gauge' || metric.kind === 'sum' ? readNumberPoint : readDistributionPoint;
  eachField(reader, end, (tag) => {
    if (tag === bytesTag(1)) {
      budget.take();
      metric.points.push(read(reader, endOf(reader, end), metric, budget));
    } else if (tag === varintTag(2)) metric.isDelta = reader.uint32() === DELTA;
    else if (tag === varintTag(3)) metric.isMonotonic = reader.bool();
    else return false;
    return true;
  });
}

function readNumberPoint(reader: OtlpReader, end: number, _metric: OtlpMetric, budget: OtlpBudget): OtlpPoint {
  const point = emptyPoint();
  eachField(reader, end, (tag) => {
    if (tag === bytesTag(7)) readKeyValue(reader, endOf(reader, end), point.attributes, budget);
    else if (tag === fixed64Tag(3)) point.timeMs = readNanosAsMs(reader);
    else if (tag === fixed64Tag(4)) point.value = reader.double();
    else if (tag === fixed64Tag(6)) point.value = (reader.sfixed64() as unknown as { toNumber(): number }).toNumber();
    else if (tag === varintTag(8)) point.isGone = (reader.uint32() & NO_RECORDED_VALUE) !== 0;
    else return false;
    return true;
  });
  return point;
}

/** Of histograms and summaries: they share numbers of fields, but for attributes and flags. Of exponential ones only what counts them. */
function readDistributionPoint(reader: OtlpReader, end: number, { kind }: OtlpMetric, budget: OtlpBudget): OtlpPoint {
  const point = emptyPoint();
  const isSummary = kind === 'summary';
  if (kind === 'exponential_histogram') {
    reader.pos = end;
    return point;
  }
  eachField(reader, end, (tag) => {
    if (tag === bytesTag(isSummary ? 7 : 9)) readKeyValue(reader, endOf(reader, end), point.attributes, budget);
    else if (tag === fixed64Tag(3)) point.timeMs = readNanosAsMs(reader);
    else if (tag === fixed64Tag(4)) point.count = readCount(reader);
    else if (tag === fixed64Tag(5)) point.sum = reader.double();
    else if (tag === varintTag(isSummary ? 8 : 10)) point.isGone = (reader.uint32() & NO_RECORDED_VALUE) !== 0;
    else if (tag === bytesTag(6)) {
      if (isSummary) point.quantiles.push(readQuantile(reader, endOf(reader, end)));
      else readPacked(reader, endOf(reader, end), point.bucketCounts, readCount);
    } else if (!isSummary && tag === fixed64Tag(6)) point.bucketCounts.push(readCount(reader));
    else if (!isSummary && tag === bytesTag(7))
      readPacked(reader, endOf(reader, end), point.bounds, (of) => of.double());
    else if (!isSummary && tag === fixed64Tag(7)) point.bounds.push(reader.double());
    else return false;
    if (Math.max(point.bucketCounts.length, point.bounds.length, point.quantiles.length) > BUCKETS_MAX)
      throw new OtlpError(`a point has more than ${BUCKETS_MAX} buckets`);
    return true;
  });
  return point;
}

function readCount(reader: OtlpReader): number {
  return (reader.fixed64() as unknown as { toNumber(): number }).toNumber();
}

function readPacked(reader: OtlpReader, end: number, into: number[], read: (reader: OtlpReader) => number): void {
  while (reader.pos < end && into.length <= BUCKETS_MAX) into.push(read(reader));
  if (into.length <= BUCKETS_MAX) requireEnd(reader, end);
}

function readQuantile(reader: OtlpReader, end: number): readonly [number, number] {
  let [quantile, value] = [0, 0];
  eachField(reader, end, (tag) => {
    if (tag === fixed64Tag(1)) quantile = reader.double();
    else if (tag === fixed64Tag(2)) value = reader.double();
    else return false;
    return true;
  });
  return [quantile, value];
}
