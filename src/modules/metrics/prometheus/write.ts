// Route of Prometheus remote write 1.0. Samples that cannot be stored are named in a 400, which Prometheus does not retry; the others are
// stored.
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import {
  type Digested,
  refuseAsText,
  TELEMETRY_BYTES_MAX,
  telemetryCredential,
  telemetryTask,
} from '../../../kit/telemetry.ts';
import { OtlpError } from '../../../lib/otlp/values.ts';
import { problem } from '../../../problems/problem.ts';
import { ingest, takenOf } from '../ingest/ingest.ts';
import type { SampleBatch } from '../intake/batch.ts';
import { LONG_BYTES } from '../intake/native.ts';
import { readRemoteWrite, unpackSnappy } from '../intake/remote-write.ts';
import { INGEST, NAMED_REFUSALS_MAX } from '../limits.ts';
import type { MetricsState } from '../state.ts';

const task = (id: string, read: (body: Buffer) => SampleBatch) =>
  telemetryTask({ source: import.meta.url, id: `metrics.${id}` }, read);
export const writePlain = task('write.plain', (body) => readRemoteWrite(body, Date.now()));
export const writeSnappy = task('write.snappy', (body) => readRemoteWrite(unpackSnappy(body), Date.now()));

export const writeRoute: RawRoute<MetricsState> = {
  name: 'metrics.remote_write',
  methods: ['POST'],
  path: '/v1/metrics/prometheus/api/v1/write',
  capability: INGEST,
  bodyBytesMax: TELEMETRY_BYTES_MAX,
  // Snappy is what the protocol says, and no encoding of HTTP's; it is undone here.
  encodings: 'kept',
  credentialOf: telemetryCredential,
  answer: write,
  refuse: refuseAsText,
};

async function write(request: RawRequest, state: MetricsState): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  requireVersionOne(request);
  await state.unpaid.check(ctx);
  const sent = await readSent(request);
  const { rejected, rejectedCount, charged } = takenOf(await ingest(ctx, state, sent.read, sent.digest));
  const cost = { costNanos: charged.costNanos };
  if (rejectedCount === 0) return { status: 204, headers: {}, body: '', ...cost };
  const named = rejected.slice(0, NAMED_REFUSALS_MAX).map(({ index, reason }) => `sample ${index}: ${reason}`);
  const more = rejectedCount > named.length ? `; and ${rejectedCount - named.length} more` : '';
  return {
    status: 400,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    body: `${rejectedCount} samples are not stored, the others are: ${named.join('; ')}${more}\n`,
    ...cost,
  };
}

function requireVersionOne({ headers }: RawRequest): void {
  const type = headers['content-type'] ?? '';
  const version = headers['x-prometheus-remote-write-version'];
  const isTwo = /proto=io\.prometheus\.write\.v2/.test(type) || String(version ?? '').startsWith('2.');
  if (!isTwo && /^application\/x-protobuf\b/i.test(type) && headers['content-encoding'] === 'snappy') return;
  throw problem('UNSUPPORTED_MEDIA_TYPE', {
    message: 'Remote write 1.0 is taken: Content-Type application/x-protobuf, Content-Encoding snappy.',
  });
}

async function readSent(request: RawRequest): Promise<Digested<SampleBatch>> {
  const { body } = request;
  if (body.length > LONG_BYTES) return request.read(writeSnappy, body);
  try {
    return await request.read(writePlain, unpackSnappy(body));
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    throw problem('INVALID_REQUEST', { message: `The body cannot be read: ${error.message}.`, cause: error });
  }
}
