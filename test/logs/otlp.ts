// Requests of OTLP, written by hand in both forms.
import protobuf from 'protobufjs/minimal.js';

type Scalar = string | number | boolean;

export interface OtlpRecord {
  readonly timeMs?: number;
  readonly severity?: number;
  readonly body?: Scalar;
  readonly attributes?: Readonly<Record<string, Scalar>>;
  readonly traceId?: string;
  readonly spanId?: string;
}

const bytes = (field: number) => (field << 3) | 2;

function anyValue(out: protobuf.Writer, field: number, value: Scalar): void {
  out.uint32(bytes(field)).fork();
  if (typeof value === 'string') out.uint32(bytes(1)).string(value);
  else if (typeof value === 'boolean') out.uint32(2 << 3).bool(value);
  else if (Number.isInteger(value)) out.uint32(3 << 3).int64(value);
  else out.uint32((4 << 3) | 1).double(value);
  out.ldelim();
}

function pairs(out: protobuf.Writer, field: number, of: Readonly<Record<string, Scalar>> = {}): void {
  for (const [name, value] of Object.entries(of)) {
    out.uint32(bytes(field)).fork().uint32(bytes(1)).string(name);
    anyValue(out, 2, value);
    out.ldelim();
  }
}

export function otlpProtobuf(records: readonly OtlpRecord[], resource: Readonly<Record<string, Scalar>> = {}): Buffer {
  const out = protobuf.Writer.create();
  out.uint32(bytes(1)).fork();
  out.uint32(bytes(1)).fork();
  pairs(out, 1, resource);
  out.ldelim().uint32(bytes(2)).fork().uint32(bytes(1)).fork().uint32(bytes(1)).string('scope').ldelim();
  for (const { timeMs, severity, body, attributes, traceId, spanId } of records) {
    out.uint32(bytes(2)).fork();
    if (timeMs !== undefined) {
      const nanos = BigInt(timeMs) * 1_000_000n;
      out
        .uint32((1 << 3) | 1)
        .fixed32(Number(nanos & 0xffffffffn))
        .fixed32(Number(nanos >> 32n));
    }
    if (severity !== undefined) out.uint32(2 << 3).uint32(severity);
    if (body !== undefined) anyValue(out, 5, body);
    pairs(out, 6, attributes);
    if (traceId !== undefined) out.uint32(bytes(9)).bytes(Buffer.from(traceId, 'hex'));
    if (spanId !== undefined) out.uint32(bytes(10)).bytes(Buffer.from(spanId, 'hex'));
    out.ldelim();
  }
  return Buffer.from(out.ldelim().ldelim().finish());
}

function jsonValue(value: Scalar): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

export function otlpJson(records: readonly OtlpRecord[], resource: Readonly<Record<string, Scalar>> = {}): string {
  const list = (of: Readonly<Record<string, Scalar>> = {}) =>
    Object.entries(of).map(([key, value]) => ({ key, value: jsonValue(value) }));
  const logRecords = records.map(({ timeMs, severity, body, attributes, traceId, spanId }) => ({
    ...(timeMs === undefined ? {} : { timeUnixNano: `${timeMs}000000` }),
    ...(severity === undefined ? {} : { severityNumber: severity }),
    ...(body === undefined ? {} : { body: jsonValue(body) }),
    attributes: list(attributes),
    traceId,
    spanId,
  }));
  return JSON.stringify({
    resourceLogs: [{ resource: { attributes: list(resource) }, scopeLogs: [{ scope: { name: 'scope' }, logRecords }] }],
  });
}

/** ExportLogsServiceResponse and its like: rejected records and why. */
export function partialOf(body: Buffer): { rejected: number; message: string } {
  const reader = protobuf.Reader.create(body);
  const partial = { rejected: 0, message: '' };
  while (reader.pos < reader.len) {
    reader.uint32();
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      if (reader.uint32() >>> 3 === 1) partial.rejected = Number(reader.int64());
      else partial.message = reader.string();
    }
  }
  return partial;
}

/** google.rpc.Status. */
export function statusOf(body: Buffer): { code: number; message: string; text: string } {
  const reader = protobuf.Reader.create(body);
  const status = { code: 0, message: '', text: body.toString('latin1') };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) status.code = reader.int32();
    else if (tag >>> 3 === 2) status.message = reader.string();
    else reader.skipType(tag & 7);
  }
  return status;
}
