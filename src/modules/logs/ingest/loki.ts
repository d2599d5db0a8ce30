// Parser of Loki's push API (grafana.com/docs/loki, POST /loki/api/v1/push): JSON, or protobuf compressed with snappy.
import { jsonOfBody } from '../../../kit/telemetry.ts';
import { listOf, membersOf } from '../../../lib/otlp/json.ts';
import {
  bytesTag,
  endOf,
  type OtlpReader,
  readProtobuf,
  requireEnd,
  skip,
  varintTag,
} from '../../../lib/otlp/protobuf.ts';
import { OtlpError } from '../../../lib/otlp/values.ts';
import { snappyDecompress } from '../../../lib/snappy.ts';
import { BODY_BYTES_MAX, FOREIGN_RECORDS_MAX } from '../limits.ts';
import { Intake, type ReadyLogs } from './intake.ts';
import { type Labels, streamOf, takeEntry } from './loki-record.ts';

/** The body under snappy. Throws OtlpError. */
export function unpackSnappy(body: Buffer): Buffer {
  try {
    return snappyDecompress(body, BODY_BYTES_MAX);
  } catch (error) {
    throw new OtlpError('it is not valid snappy, or longer than 8 MiB', { cause: error });
  }
}

export function readLokiJson(body: Buffer, nowMs: number): ReadyLogs {
  const intake = new Intake(nowMs, FOREIGN_RECORDS_MAX);
  const { streams } = membersOf(jsonOfBody(body), 'the body');
  for (const each of listOf(streams, 'streams')) {
    const { stream, values } = membersOf(each, 'an entry of streams');
    const shared = streamOf(intake, new Map(textsOf(stream, 'stream')));
    for (const entry of listOf(values, 'values')) {
      const [nanos, line, metadata] = listOf(entry, 'an entry of values');
      if (typeof nanos !== 'string' || !NANOS.test(nanos) || typeof line !== 'string') {
        throw new OtlpError('an entry of values must be a time in nanoseconds and a line, both strings');
      }
      const timeMs = Number(nanos.slice(0, -6));
      takeEntry(intake, shared, timeMs, line.toWellFormed(), textsOf(metadata, 'structured metadata'));
    }
  }
  return intake.ready();
}

const NANOS = /^\d{1,20}$/;

function* textsOf(members: unknown, name: string): Generator<readonly [string, string]> {
  for (const [key, value] of Object.entries(membersOf(members, name))) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'object') throw new OtlpError(`${name} must hold strings`);
    yield [key, String(value)];
  }
}

// logproto.PushRequest.
const STREAM = bytesTag(1);
const LABELS = bytesTag(1);
const ENTRY = bytesTag(2);
const TIME = bytesTag(1);
const LINE = bytesTag(2);
const METADATA = bytesTag(3);
const SECONDS = varintTag(1);
const NANOSECONDS = varintTag(2);
const NAME = bytesTag(1);
const VALUE = bytesTag(2);

export function readLokiProtobuf(body: Buffer, nowMs: number): ReadyLogs {
  const intake = new Intake(nowMs, FOREIGN_RECORDS_MAX);
  readProtobuf(body, (reader, end) => {
    eachField(reader, end, (tag) => {
      if (tag === STREAM) readStream(reader, endOf(reader, end), intake);
      else skip(reader, tag);
    });
  });
  return intake.ready();
}

function eachField(reader: OtlpReader, end: number, read: (tag: number) => void): void {
  while (reader.pos < end) read(reader.tag());
  requireEnd(reader, end);
}

function readStream(reader: OtlpReader, end: number, intake: Intake): void {
  let stream = streamOf(intake, new Map());
  eachField(reader, end, (tag) => {
    if (tag === LABELS) stream = streamOf(intake, labelsOf(reader.string()));
    else if (tag === ENTRY) readEntry(reader, endOf(reader, end), (...entry) => takeEntry(intake, stream, ...entry));
    else skip(reader, tag);
  });
}

function readEntry(
  reader: OtlpReader,
  end: number,
  take: (timeMs: number, line: string, metadata: Iterable<readonly [string, string]>) => void,
): void {
  let timeMs = 0;
  let line = '';
  const metadata: (readonly [string, string])[] = [];
  eachField(reader, end, (tag) => {
    if (tag === TIME) timeMs = readTime(reader, endOf(reader, end));
    else if (tag === LINE) line = reader.string();
    else if (tag === METADATA) metadata.push(readPair(reader, endOf(reader, end)));
    else skip(reader, tag);
  });
  take(timeMs, line, metadata);
}

function readTime(reader: OtlpReader, end: number): number {
  let seconds = 0;
  let nanos = 0;
  eachField(reader, end, (tag) => {
    if (tag === SECONDS) seconds = Number(reader.int64());
    else if (tag === NANOSECONDS) nanos = reader.int32();
    else skip(reader, tag);
  });
  return seconds * 1_000 + Math.floor(nanos / 1e6);
}

function readPair(reader: OtlpReader, end: number): readonly [string, string] {
  let name = '';
  let value = '';
  eachField(reader, end, (tag) => {
    if (tag === NAME) name = reader.string();
    else if (tag === VALUE) value = reader.string();
    else skip(reader, tag);
  });
  return [name, value];
}

const LABEL = /\s*([A-Za-z_][\w.:-]*)\s*=\s*("(?:[^"\\]|\\.)*")\s*(?:,|\}|$)/gy;

/** `{app="api", level="info"}`. Throws OtlpError. */
export function labelsOf(text: string): Labels {
  const labels = new Map<string, string>();
  const source = text.trim();
  if (!source.startsWith('{') || !source.endsWith('}')) throw new OtlpError('labels must stand in braces');
  LABEL.lastIndex = 1;
  for (let at = 1; at < source.length; at = LABEL.lastIndex) {
    const match = LABEL.exec(source);
    if (match === null) {
      if (source.slice(at).trim() === '}') break;
      throw new OtlpError('labels must be name="value" pairs');
    }
    labels.set(match[1] as string, unquote(match[2] as string));
  }
  return labels;
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
