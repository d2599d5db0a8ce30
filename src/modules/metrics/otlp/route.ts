// OTLP/HTTP's POST /v1/metrics. Each request is charged and stored as a call of metrics.ingest.
import { otlpRoute, telemetryTask } from '../../../kit/telemetry.ts';
import { ingest, takenOf } from '../ingest/ingest.ts';
import type { SampleBatch } from '../intake/batch.ts';
import { INGEST, NAMED_REFUSALS_MAX } from '../limits.ts';
import type { MetricsState } from '../state.ts';
import { readMetricsJson } from './json.ts';
import { readMetricsProtobuf } from './protobuf.ts';

const task = (id: string, read: (body: Buffer) => SampleBatch) =>
  telemetryTask({ source: import.meta.url, id: `metrics.otlp.${id}` }, read);
export const otlpMetricsProtobuf = task('protobuf', (body) => readMetricsProtobuf(body, Date.now()));
export const otlpMetricsJson = task('json', (body) => readMetricsJson(body, Date.now()));

export const otlpMetrics = otlpRoute<MetricsState, SampleBatch>({
  name: 'metrics.otlp',
  path: '/v1/metrics',
  capability: INGEST,
  rejectedName: 'rejectedDataPoints',
  protobuf: otlpMetricsProtobuf,
  json: otlpMetricsJson,
  check: (ctx, state) => state.unpaid.check(ctx),
  async take(ctx, { read, digest }, state) {
    const { rejected, rejectedCount, charged } = takenOf(await ingest(ctx, state, read, digest));
    const reasons = [...new Set(rejected.map(({ reason }) => reason))].slice(0, NAMED_REFUSALS_MAX);
    // A point of a histogram is several samples.
    const named = new Set(rejected.map(({ index }) => index)).size;
    const points = rejectedCount > rejected.length ? rejectedCount : named;
    return { rejected: points, message: reasons.join('; '), costNanos: charged.costNanos };
  },
});
