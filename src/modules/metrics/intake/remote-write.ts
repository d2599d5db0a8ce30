// Parser of Prometheus remote write 1.0 (prometheus.io/docs/specs/prw/remote_write_spec): a protobuf WriteRequest under snappy, decoded field by
// field. Samples that cannot be stored are refused one by one; a malformed body is refused as a whole.
import {
  bytesTag,
  endOf,
  fixed64Tag,
  type OtlpReader,
  readProtobuf,
  requireEnd,
  skip,
  varintTag,
} from '../../../lib/otlp/protobuf.ts';
import { OtlpError } from '../../../lib/otlp/values.ts';
import { SnappyError, snappyDecompress } from '../../../lib/snappy.ts';
import { type MetricType, SAMPLES_MAX } from '../limits.ts';
import { BatchBuilder, type SampleBatch } from './batch.ts';
import { LONG_BYTES } from './native.ts';
import { seriesOfBytes } from './sent-labels.ts';
import { seriesFrom } from './series-from.ts';

export const REMOTE_WRITE_BYTES_MAX = 8 * 1024 * 1024;
/** Of a series, before anything of them is looked at: more are refused as a whole. */
const PAIRS_MAX = 1_000;

const SERIES = bytesTag(1);
const METADATA = bytesTag(3);

/** `plain`: without snappy. Throws OtlpError. */
export function readRemoteWrite(plain: Buffer, nowMs: number): SampleBatch {
  const builder = new BatchBuilder(nowMs);
  readProtobuf(plain, (reader, end) => {
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === SERIES) readSeries(reader, endOf(reader, end), builder);
      else if (tag === METADATA) readMetadata(reader, endOf(reader, end), builder);
      else skip(reader, tag);
    }
  });
  return builder.build(plain.length > LONG_BYTES);
}

/** The body without snappy. Throws OtlpError. */
export function unpackSnappy(body: Buffer): Buffer {
  try {
    return snappyDecompress(body, REMOTE_WRITE_BYTES_MAX);
  } catch (error) {
    if (error instanceof SnappyError) throw new OtlpError(error.message, { cause: error });
    throw error;
  }
}

const LABEL = bytesTag(1);
const SAMPLE = bytesTag(2);
const HISTOGRAM = bytesTag(4);

function readSeries(reader: OtlpReader, end: number, builder: BatchBuilder): void {
  const samples: Sample[] = [];
  let histograms = 0;
  let pairs = 0;
  const start = reader.pos;
  // Labels come first, unless a sender writes its own way.
  let labelsEnd = start;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === LABEL) {
      pairs += 1;
      skip(reader, tag);
      labelsEnd = reader.pos;
    } else if (tag === SAMPLE) samples.push(readSample(reader, endOf(reader, end)));
    else {
      if (tag === HISTOGRAM) histograms += 1;
      skip(reader, tag);
    }
    if (pairs > PAIRS_MAX) throw new OtlpError(`a series has more than ${PAIRS_MAX} labels`);
    if (builder.samples + samples.length > SAMPLES_MAX) throw new OtlpError(`it has more than ${SAMPLES_MAX} samples`);
  }
  requireEnd(reader, end);
  if (histograms > 0) builder.refuse(builder.countSent(histograms), 'native histograms are not kept', histograms);
  const bytes = (reader.buf as Buffer).subarray(start, labelsEnd);
  const series = samples.length === 0 ? '' : seriesOfBytes(bytes, () => seriesFrom(readLabels(bytes)));
  if (typeof series === 'string') {
    if (samples.length > 0) builder.refuse(builder.countSent(samples.length), series, samples.length);
    return;
  }
  const place = builder.seriesOf(series);
  for (const { low, high, timeMs } of samples) builder.addBits(place, timeMs, low, high, builder.countSent(1));
}

const NAME = bytesTag(1);
const VALUE = bytesTag(2);

/** The labels among the fields that these bytes are. */
function readLabels(bytes: Buffer): (readonly [string, string])[] {
  return readProtobuf(bytes, (reader, end) => {
    const pairs: (readonly [string, string])[] = [];
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === LABEL) pairs.push(readLabel(reader, endOf(reader, end)));
      else skip(reader, tag);
    }
    return pairs;
  });
}

function readLabel(reader: OtlpReader, end: number): readonly [string, string] {
  let [name, value] = ['', ''];
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === NAME) name = reader.string();
    else if (tag === VALUE) value = reader.string();
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  return [name, value.toWellFormed()];
}

interface Sample {
  low: number;
  high: number;
  timeMs: number;
}

const SAMPLE_VALUE = fixed64Tag(1);
const SAMPLE_TIME = varintTag(2);

function readSample(reader: OtlpReader, end: number): Sample {
  const sample = { low: 0, high: 0, timeMs: 0 };
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === SAMPLE_VALUE) {
      sample.low = reader.fixed32();
      sample.high = reader.fixed32();
    } else if (tag === SAMPLE_TIME) {
      sample.timeMs = (reader.int64() as unknown as { toNumber(): number }).toNumber();
    } else skip(reader, tag);
  }
  requireEnd(reader, end);
  return sample;
}

const METRIC_TYPE = varintTag(1);
const METRIC_NAME = bytesTag(2);
const METRIC_HELP = bytesTag(4);
const METRIC_UNIT = bytesTag(5);
const typesSent: readonly MetricType[] = ['unknown', 'counter', 'gauge', 'histogram', 'unknown', 'summary'];

function readMetadata(reader: OtlpReader, end: number, builder: BatchBuilder): void {
  let type: MetricType = 'unknown';
  let [name, help, unit] = ['', '', ''];
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === METRIC_TYPE) type = typesSent[reader.uint32()] ?? 'unknown';
    else if (tag === METRIC_NAME) name = reader.string();
    else if (tag === METRIC_HELP) help = reader.string();
    else if (tag === METRIC_UNIT) unit = reader.string();
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  builder.describe({ name, type, help, unit });
}
