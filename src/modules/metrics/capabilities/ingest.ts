import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { ingest as store } from '../ingest/ingest.ts';
import type { SampleBatch } from '../intake/batch.ts';
import { batchOfPoints, ingestSchema, LONG_BYTES } from '../intake/native.ts';
import type { MetricsState } from '../state.ts';

export const ingest = defineCapability<MetricsState>()({
  method: 'POST',
  path: '/v1/metrics/ingest',
  summary: 'Stores points of metrics.',
  description:
    'Stores 1 to 1,000 points, each a value of a series at a time. A series is a name with labels; it begins with its first point. Of two points of a series with ' +
    'one time the later one counts. A point that cannot be kept is named in rejected; the others are stored. Programs that have an exporter need no call: OpenTelemetry sends to ' +
    '{base_url} (OTEL_EXPORTER_OTLP_ENDPOINT), Prometheus by remote_write to {base_url}/v1/metrics/prometheus/api/v1/write.',
  keywords: [
    'send metrics',
    'counter',
    'gauge',
    'prometheus remote write',
    'statsd',
    'time series point',
    'otlp metrics',
  ],
  input: ingestSchema,
  output: Type.Object({
    accepted: Type.Integer({ description: 'Points that are stored.' }),
    rejected: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Place of the point in the call, from 0.' }),
        reason: Type.String({ description: 'Why it is not stored.' }),
      }),
      { description: 'Points that are not stored, each with its reason.' },
    ),
    rejected_count: Type.Integer({ description: 'How many there are.' }),
  }),
  price: 'metrics.ingest',
  bodyBytesMax: 1024 * 1024,
  bulk: {
    source: import.meta.url,
    reduce: (sent: Static<typeof ingestSchema>, { text }) => ({
      value: batchOfPoints(sent, text.length > LONG_BYTES),
      transfer: [],
    }),
  },
  opaque: ['labels'],
  events: ['wallet.low_balance'],
  limits: {
    size: '1,000 points and 1 MiB a call; by remote write and OTLP 10,000 samples and 8 MiB.',
    labels: '32 a series; names of up to 100, values of up to 1,024 characters.',
    series: '10,000 / 100,000 / 1,000,000 live series by tier: those with a point since the last full hour.',
    time: 'At most 10 minutes ahead, and no older than points are kept.',
    retention: '15 days, or as metrics.settings.set says (1 to 90).',
  },
  examples: [
    {
      title: 'A counter and a gauge',
      input: {
        items: [
          { name: 'http_requests_total', type: 'counter', value: 1027, labels: { method: 'GET', status: '200' } },
          { name: 'queue_depth', value: 12, labels: { queue: 'mail' } },
        ],
      },
      expect: { accepted: 2, rejected: [] },
    },
    {
      title: 'One of two points is too old',
      input: {
        items: [
          { name: 'queue_depth', value: 12 },
          { name: 'queue_depth', value: 3, timestamp: '2020-01-01T00:00:00Z' },
        ],
      },
      expect: { accepted: 1, rejected_count: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    await state.unpaid.check(ctx);
    // What `bulk` made of the input.
    return store(ctx, state, input as unknown as SampleBatch);
  },
});
