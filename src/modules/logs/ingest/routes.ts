// Ingest routes of other protocols. Each request is charged and stored as a call of logs.ingest.
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import {
  type Digested,
  type OtlpTaken,
  otlpRoute,
  refuseAsText,
  TELEMETRY_BYTES_MAX,
  telemetryCredential,
  telemetryEncodings,
  telemetryTask,
  wholeBody,
} from '../../../kit/telemetry.ts';
import { OtlpError } from '../../../lib/otlp/values.ts';
import { problem } from '../../../problems/problem.ts';
import { INGEST } from '../limits.ts';
import type { LogsState } from '../state.ts';
import { storeDigested } from './ingest.ts';
import type { ReadyLogs } from './intake.ts';
import { readLokiJson, readLokiProtobuf, unpackSnappy } from './loki.ts';
import { readLogsJson } from './otlp-json.ts';
import { readLogsProtobuf } from './otlp-protobuf.ts';
import { countSpansInJson, countSpansInProtobuf } from './spans.ts';

const task = <Read>(id: string, read: (body: Buffer) => Read) =>
  telemetryTask({ source: import.meta.url, id: `logs.${id}` }, read);

export const otlpLogsProtobuf = task('otlp.protobuf', (body) => readLogsProtobuf(body, Date.now()));
export const otlpLogsJson = task('otlp.json', (body) => readLogsJson(body, Date.now()));
export const spansInProtobuf = task('spans.protobuf', countSpansInProtobuf);
export const spansInJson = task('spans.json', countSpansInJson);
export const lokiJson = task('loki.json', (body) => readLokiJson(body, Date.now()));
export const lokiProtobuf = task('loki.protobuf', (body) => readLokiProtobuf(body, Date.now()));
export const lokiSnappy = task('loki.snappy', (body) => readLokiProtobuf(unpackSnappy(body), Date.now()));

const otlpLogs = otlpRoute<LogsState, ReadyLogs>({
  name: 'logs.otlp',
  path: '/v1/logs',
  capability: INGEST,
  rejectedName: 'rejectedLogRecords',
  protobuf: otlpLogsProtobuf,
  json: otlpLogsJson,
  check: (ctx, state) => state.unpaid.check(ctx),
  async take(ctx, sent, state): Promise<OtlpTaken> {
    const { costNanos } = await storeDigested(ctx, state, sent);
    const [first] = sent.read.rejected;
    return {
      rejected: sent.read.rejectedCount,
      message: first === undefined ? '' : first.reason,
      ...(costNanos === undefined ? {} : { costNanos }),
    };
  },
});

const otlpTraces = otlpRoute<LogsState, number>({
  name: 'logs.traces',
  path: '/v1/traces',
  capability: INGEST,
  rejectedName: 'rejectedSpans',
  protobuf: spansInProtobuf,
  json: spansInJson,
  async take(_ctx, { read }) {
    const message =
      read === 0 ? '' : 'This service keeps logs and metrics; spans are not stored. Set OTEL_TRACES_EXPORTER=none.';
    return { rejected: read, message };
  },
});

const loki: RawRoute<LogsState> = {
  name: 'logs.loki',
  methods: ['POST'],
  path: '/v1/logs/loki/api/v1/push',
  capability: INGEST,
  bodyBytesMax: TELEMETRY_BYTES_MAX,
  encodings: telemetryEncodings,
  inflatedBytesMax: TELEMETRY_BYTES_MAX,
  credentialOf: telemetryCredential,
  answer: push,
  refuse: refuseAsText,
};

async function push(request: RawRequest, state: LogsState): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  await state.unpaid.check(ctx);
  const sent = await request.inflate(async (blocks) => readPush(request, await wholeBody(blocks)));
  const { costNanos } = await storeDigested(ctx, state, sent);
  const { records, rejected } = sent.read;
  // As Loki does when nothing of a push could be stored.
  if (records === 0 && rejected[0] !== undefined) throw problem('INVALID_REQUEST', { message: rejected[0].reason });
  return { status: 204, headers: {}, body: '', ...(costNanos === undefined ? {} : { costNanos }) };
}

/** Of a shorter body, snappy takes no longer than reading it: what comes out is read as long as it is. */
const UNSNAPPED_HERE_BYTES = 64 * 1024;

function readPush(request: RawRequest, body: Buffer): Digested<ReadyLogs> | Promise<Digested<ReadyLogs>> {
  const type = request.headers['content-type'] ?? '';
  if (/^application\/json\b/i.test(type)) return request.read(lokiJson, body);
  if (!/^application\/x-protobuf\b/i.test(type)) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', {
      message: 'The content type must be application/json or application/x-protobuf.',
    });
  }
  return body.length > UNSNAPPED_HERE_BYTES
    ? request.read(lokiSnappy, body)
    : request.read(lokiProtobuf, unsnappedHere(body));
}

function unsnappedHere(body: Buffer): Buffer {
  try {
    return unpackSnappy(body);
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    throw problem('INVALID_REQUEST', { message: `The body cannot be read: ${error.message}.`, cause: error });
  }
}

export const ingestRoutes: readonly RawRoute<LogsState>[] = [otlpLogs, otlpTraces, loki];
