// Decodes OTLP's common messages from protobuf, field by field, without building anything that is not kept. Each function reads one message and
// ends exactly at its end; a field that overruns its message, or ends early, is an OtlpError. Unknown fields, and known ones of another wire
// type, are skipped.
import protobuf from 'protobufjs/minimal.js';
import {
  type OtlpAttributes,
  OtlpBudget,
  OtlpError,
  type OtlpMembers,
  type OtlpScope,
  type OtlpValue,
  plainNumber,
} from './values.ts';

export type OtlpReader = protobuf.Reader;

/** Tags: the number of a field, and how it is sent. */
export const varintTag = (field: number) => (field << 3) | 0;
export const fixed64Tag = (field: number) => (field << 3) | 1;
export const bytesTag = (field: number) => (field << 3) | 2;

const EXACT_MAX = 2 ** 53;

/** What `read` makes of the whole body. Throws OtlpError for a body that is not what it reads. */
export function readProtobuf<Result>(
  body: Uint8Array,
  read: (reader: OtlpReader, end: number, budget: OtlpBudget) => Result,
): Result {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const reader = protobuf.Reader.create(bytes);
  try {
    const result = read(reader, bytes.length, new OtlpBudget());
    requireEnd(reader, bytes.length);
    return result;
  } catch (error) {
    // The reader's own failures are plain errors.
    if (error instanceof OtlpError || !(error instanceof Error) || error.name === 'TypeError') throw error;
    throw new OtlpError(`it is not valid protobuf: ${error.message}`, { cause: error });
  }
}

/** Where the message ends whose length comes next. */
export function endOf(reader: OtlpReader, parentEnd: number): number {
  const end = reader.size() + reader.pos;
  if (end > parentEnd) throw new OtlpError(`a message at byte ${reader.pos} is longer than the one that holds it`);
  return end;
}

export function requireEnd(reader: OtlpReader, end: number): void {
  if (reader.pos !== end) throw new OtlpError(`a field at byte ${end} is longer than the message that holds it`);
}

export function skip(reader: OtlpReader, tag: number): void {
  reader.skipType(tag & 7, 0, tag >>> 3);
}

/** An unsigned time in nanoseconds as whole milliseconds. */
export function readNanosAsMs(reader: OtlpReader): number {
  const low = reader.fixed32();
  const high = reader.fixed32();
  // 2^32 nanoseconds are 4,294 ms and 967,296 ns: no number here is too long to be exact.
  return high * 4_294 + Math.floor((high * 967_296 + low) / 1e6);
}

/** Bytes as lower-case hex. */
export function readHex(reader: OtlpReader, parentEnd: number): string {
  const end = endOf(reader, parentEnd);
  const start = reader.pos;
  reader.pos = end;
  return (reader.buf as Buffer).toString('hex', start, end);
}

/** A signed number: exact, or its decimal digits. */
export function readInteger(reader: OtlpReader): number | string {
  const long = reader.int64() as unknown as { toNumber(): number; toString(): string };
  const value = long.toNumber();
  return Math.abs(value) <= EXACT_MAX - 1 ? value : long.toString();
}

const STRING = bytesTag(1);
const BOOL = varintTag(2);
const INT = varintTag(3);
const DOUBLE = fixed64Tag(4);
const ARRAY = bytesTag(5);
const KVLIST = bytesTag(6);
const BYTES = bytesTag(7);

/** An AnyValue up to `end`. */
export function readAnyValue(reader: OtlpReader, end: number, budget: OtlpBudget, depth = 0): OtlpValue {
  let value: OtlpValue = null;
  budget.take();
  while (reader.pos < end) {
    const tag = reader.tag();
    switch (tag) {
      case STRING:
        value = reader.string();
        break;
      case BOOL:
        value = reader.bool();
        break;
      case INT:
        value = readInteger(reader);
        break;
      case DOUBLE:
        value = plainNumber(reader.double());
        break;
      case ARRAY:
        value = readList(reader, endOf(reader, end), budget, budget.enter(depth));
        break;
      case KVLIST:
        value = Object.fromEntries(
          readAttributes(reader, endOf(reader, end), KEY_VALUE, budget, budget.enter(depth)),
        ) as OtlpMembers;
        break;
      case BYTES:
        value = Buffer.from(reader.bytes()).toString('base64');
        break;
      default:
        skip(reader, tag);
    }
  }
  requireEnd(reader, end);
  return value;
}

const ENTRY = bytesTag(1);

function readList(reader: OtlpReader, end: number, budget: OtlpBudget, depth: number): OtlpValue[] {
  const list: OtlpValue[] = [];
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === ENTRY) list.push(readAnyValue(reader, endOf(reader, end), budget, depth));
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  return list;
}

/** Of a KeyValueList, and of the attributes of a Resource. */
export const KEY_VALUE = bytesTag(1);
const KEY = bytesTag(1);
const VALUE = bytesTag(2);

/** A message of nothing but KeyValues under `tag`, up to `end`. */
export function readAttributes(
  reader: OtlpReader,
  end: number,
  tagOfPair: number,
  budget: OtlpBudget,
  depth = 0,
): OtlpAttributes {
  const attributes: OtlpAttributes = new Map();
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === tagOfPair) readKeyValue(reader, endOf(reader, end), attributes, budget, depth);
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  return attributes;
}

/** One KeyValue up to `end`, into `attributes`. */
export function readKeyValue(
  reader: OtlpReader,
  end: number,
  attributes: OtlpAttributes,
  budget: OtlpBudget,
  depth = 0,
): void {
  let name = '';
  let value: OtlpValue = null;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === KEY) name = reader.string();
    else if (tag === VALUE) value = readAnyValue(reader, endOf(reader, end), budget, depth);
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  attributes.set(name, value);
}

/** A Resource up to `end`. */
export function readResource(reader: OtlpReader, end: number, budget: OtlpBudget): OtlpAttributes {
  return readAttributes(reader, end, KEY_VALUE, budget);
}

const SCOPE_NAME = bytesTag(1);
const SCOPE_VERSION = bytesTag(2);
const SCOPE_ATTRIBUTES = bytesTag(3);

/** An InstrumentationScope up to `end`. */
export function readScope(reader: OtlpReader, end: number, budget: OtlpBudget): OtlpScope {
  let name = '';
  let version = '';
  const attributes: OtlpAttributes = new Map();
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === SCOPE_NAME) name = reader.string();
    else if (tag === SCOPE_VERSION) version = reader.string();
    else if (tag === SCOPE_ATTRIBUTES) readKeyValue(reader, endOf(reader, end), attributes, budget);
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  return { name, version, attributes };
}
