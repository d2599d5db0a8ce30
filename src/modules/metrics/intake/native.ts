// Parser of metrics.ingest input into a batch. The schema refuses a call with a field of a wrong type; a point that names no valid series is
// rejected alone.
import Type, { type Static } from 'typebox';
import { alsoNamed } from '../../../kit/second-names.ts';
import { parseInstant } from '../../../lib/instant.ts';
import { POINTS_MAX } from '../limits.ts';
import { BatchBuilder, type SampleBatch } from './batch.ts';
import { seriesFrom } from './series-from.ts';

/** Longer bodies are read in threads. */
export const LONG_BYTES = 64 * 1024;

const pointSchema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Name of the metric: letters, digits, _ and :, no digit first. "http_requests_total".',
  }),
  type: Type.Optional(
    Type.Unsafe<'counter' | 'gauge'>({
      type: 'string',
      enum: ['counter', 'gauge'],
      default: 'gauge',
      description:
        'A counter only grows, and begins at 0 when its program restarts. A gauge is any number; it is the default.',
    }),
  ),
  value: Type.Number({ description: 'What was measured; of a counter the total so far.' }),
  labels: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'What tells series of the metric apart, up to 32: {"method": "GET"}. Names of letters, digits and _; values of up to 1,024 characters.',
    }),
  ),
  timestamp: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'When it was measured; now when not sent. At most 10 minutes ahead, and within the time that samples are kept.',
    }),
  ),
});

export const ingestSchema = Type.Object({
  items: alsoNamed(
    Type.Array(pointSchema, { minItems: 1, maxItems: POINTS_MAX, description: 'Up to 1,000 points.' }),
    'points',
  ),
});

export function batchOfPoints(
  { items }: Static<typeof ingestSchema>,
  isLong: boolean,
  nowMs = Date.now(),
): SampleBatch {
  const builder = new BatchBuilder(nowMs);
  for (const [index, { name, type, value, labels, timestamp }] of items.entries()) {
    const series = seriesFrom([
      ...Object.entries(labels ?? {}).filter(([label]) => label !== '__name__'),
      ['__name__', name],
    ]);
    if (typeof series === 'string') {
      builder.refuse(index, series);
      continue;
    }
    const timeMs = timestamp === undefined ? nowMs : (parseInstant(timestamp) as number);
    builder.add(builder.seriesOf(series), timeMs, value, index);
    if (type !== undefined) builder.describe({ name, type, help: null, unit: null });
  }
  return builder.build(isLong);
}
