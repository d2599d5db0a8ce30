// Log records as a web shop writes them, as OTLP batches and as blocks in the database: half of the messages hold numbers of their own, every
// record has IDs of a trace and a span, and five attributes.
import protobuf from 'protobufjs/minimal.js';
import { sendBlocks } from '../../src/blocks/send.ts';
import { Database } from '../../src/db/database.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import { makeDayPartitions } from '../../src/db/partitions.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { Intake } from '../../src/modules/logs/ingest/intake.ts';
import type { LogBatch } from '../../src/modules/logs/records/batch.ts';
import { logsKind } from '../../src/modules/logs/records/kind.ts';
import { packRecords } from '../../src/modules/logs/records/pack.ts';

const WORDS =
  'payment provider timed out while charging card order shipped user signed in cache miss retry scheduled connection reset by peer'.split(
    ' ',
  );
const ROUTES = ['/v1/orders', '/v1/orders/{id}', '/v1/users', '/health', '/v1/cart/checkout'];
const SEVERITIES = [5, 9, 9, 9, 9, 9, 9, 9, 9, 13, 13, 17];
const STATUSES = [200, 200, 200, 201, 404, 500];
const BLOCK = 10_000;
/** Distinct blocks; the others are these at other times. */
const DISTINCT = 25;

let state = 1;
function below(n: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % n;
}
const one = <T>(of: readonly T[]) => of[below(of.length)] as T;
const hex = (bytes: number) => Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, '0')).join('');

interface Sample {
  readonly severity: number;
  readonly body: string;
  readonly attributes: readonly (readonly [string, string | number])[];
  readonly traceId: string;
  readonly spanId: string;
}

function sample(): Sample {
  const kind = below(3);
  const body =
    kind === 0
      ? 'request completed'
      : kind === 1
        ? `${one(WORDS)} ${one(WORDS)} ${one(WORDS)} order ${below(1e6)} in ${below(1_000)} ms`
        : `cache miss for key user:${below(100_000)}:profile`;
  return {
    severity: one(SEVERITIES),
    body,
    traceId: hex(16),
    spanId: hex(8),
    attributes: [
      ['http.request.method', one(['GET', 'POST', 'PUT'])],
      ['http.route', one(ROUTES)],
      ['http.response.status_code', one(STATUSES)],
      ['duration_ms', below(100_000) / 100],
      ['user.id', `u-${below(20_000)}`],
    ],
  };
}

const text = (field: number) => (field << 3) | 2;

function anyValue(out: protobuf.Writer, field: number, value: string | number): void {
  out.uint32(text(field)).fork();
  if (typeof value === 'string') out.uint32(text(1)).string(value);
  else if (Number.isInteger(value)) out.uint32(3 << 3).int64(value);
  else out.uint32((4 << 3) | 1).double(value);
  out.ldelim();
}

function pair(out: protobuf.Writer, field: number, name: string, value: string | number): void {
  out.uint32(text(field)).fork().uint32(text(1)).string(name);
  anyValue(out, 2, value);
  out.ldelim();
}

/** An ExportLogsServiceRequest of records of the last seconds. */
export function otlpBatch(records: number): Buffer {
  const out = protobuf.Writer.create();
  const nowMs = Date.now();
  out.uint32(text(1)).fork().uint32(text(1)).fork();
  for (const [name, value] of [
    ['service.name', 'checkout'],
    ['service.version', '1.4.2'],
    ['host.name', 'web-3'],
  ] as const)
    pair(out, 1, name, value);
  out.ldelim().uint32(text(2)).fork();
  for (let i = 0; i < records; i += 1) {
    const { severity, body, attributes, traceId, spanId } = sample();
    const nanos = BigInt(nowMs - records + i) * 1_000_000n;
    out.uint32(text(2)).fork();
    out
      .uint32((1 << 3) | 1)
      .fixed32(Number(nanos & 0xffffffffn))
      .fixed32(Number(nanos >> 32n))
      .uint32(2 << 3)
      .uint32(severity);
    anyValue(out, 5, body);
    for (const [name, value] of attributes) pair(out, 6, name, value);
    out.uint32(text(9)).bytes(Buffer.from(traceId, 'hex')).uint32(text(10)).bytes(Buffer.from(spanId, 'hex')).ldelim();
  }
  return Buffer.from(out.ldelim().ldelim().finish());
}

/** The call that sends it. */
export function otlpCall(url: string, secret: string, body: Buffer): Buffer {
  const { host } = new URL(url);
  const head = `POST /v1/logs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/x-protobuf\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function batchOf(records: number): LogBatch {
  const intake = new Intake(Date.now(), records);
  for (let i = 0; i < records; i += 1) {
    const { severity, body, attributes, traceId, spanId } = sample();
    for (const [name, value] of attributes) intake.attribute(name, value);
    intake.add(Date.now(), Math.floor((severity - 1) / 4), one(['checkout', 'api', 'worker']), body, {
      traceId,
      spanId,
    });
  }
  return intake.batch;
}

/** Puts records of the 24 hours before `endMs` into the database, as merges leave them. `rare`: a word that two of them have. */
export async function fillDay(connection: Connection, accountId: string, records: number, endMs: number, rare: string) {
  const batches = Array.from({ length: DISTINCT }, () => batchOf(BLOCK));
  const db = new Database({ connection });
  const blocks = Math.ceil(records / BLOCK);
  const spanMs = logsKind.spanMs;
  const perHour = Math.ceil(blocks / 24);
  const order = Array.from({ length: BLOCK }, (_, i) => i);
  await makeDayPartitions(
    db,
    'core.block',
    [endMs - 86_400_000, endMs].map((ms) => ms - (ms % 86_400_000)),
  );
  for (let block = 0; block < blocks; block += 1) {
    const batch = batches[block % DISTINCT] as LogBatch;
    const hour = Math.floor(block / perHour);
    const sliceMs = Math.floor(spanMs / perHour);
    const fromMs = endMs - 86_400_000 + hour * spanMs + (block % perHour) * sliceMs;
    for (let i = 0; i < BLOCK; i += 1) batch.times[i] = fromMs + Math.floor((i * sliceMs) / BLOCK);
    if (block % Math.ceil(blocks / 2) === 7) {
      const common = batch.messages[5_000] as number;
      batch.messages[5_000] = batch.messageTexts.id(`the ${rare} happened`);
      await write(block, fromMs, packRecords(batch, order, null));
      batch.messages[5_000] = common;
    } else await write(block, fromMs, packRecords(batch, order, null));
  }
  await db.end();

  async function write(block: number, fromMs: number, draft: ReturnType<typeof packRecords>): Promise<void> {
    const blockId = sequenceAt(fromMs) + BigInt(block);
    await db.transaction(async (tx) => sendBlocks(tx, logsKind, [{ accountId, blockId, draft }], 1));
  }
}
