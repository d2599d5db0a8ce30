// SQS messages: a body of any text, typed attributes, and their checksums. A body that publish would accept is the payload as it stands; any
// other becomes the payload {"body": …}. Attributes become headers; what headers cannot express is stored beside the message.
import { hash } from 'node:crypto';
import { admission } from '../../../core/admission.ts';
import { nesting } from '../../../lib/json-source.ts';
import { invalid, missing, refusal } from './failures.ts';
import { type Fields, isFields, members, optionalText } from './request.ts';

const UNSTORABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ATTRIBUTES_MAX = 10;
const ATTRIBUTE_NAME = /^(?!\.)(?!.*\.\.)[A-Za-z0-9_.-]{1,256}(?<!\.)$/;
const RESERVED = /^(aws|amazon)\./i;
const TYPE = /^(String|Number|Binary)(\..{1,250})?$/s;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const { depthMax, containersMax } = admission.call;

export interface Attribute {
  readonly type: string;
  /** Of a binary one base64. */
  readonly value: string;
}

/** By name. */
export type Attributes = ReadonlyMap<string, Attribute>;

/** What of a message only SQS has, as it is kept beside it. */
interface Kept {
  /** The payload is {"body": …}, with the body in it. */
  readonly text?: true;
  /** Of attributes that are not of the type String. */
  readonly types?: Readonly<Record<string, string>>;
  readonly trace?: string;
  /** Of a message group on a standard queue, which has none of its own. */
  readonly group?: string;
}

export interface SentMessage {
  readonly body: string;
  readonly attributes: Attributes;
  readonly trace: string | undefined;
}

/** Body and attributes of a message, or of an entry of a batch. Throws MissingParameter, InvalidMessageContents, InvalidParameterValue. */
export function sentMessage(fields: Fields, traceOfRequest: string | undefined): SentMessage {
  const body = optionalText(fields, 'MessageBody', Number.POSITIVE_INFINITY);
  if (body === undefined || body === '') throw missing('MessageBody');
  if (UNSTORABLE.test(body)) {
    throw refusal('InvalidMessageContents', 'The message contains characters that are not allowed.', 'MessageBody');
  }
  const system = attributesOf(members(fields, 'MessageSystemAttributes'), 'MessageSystemAttributes');
  for (const name of system.keys()) {
    if (name !== 'AWSTraceHeader') throw invalid('MessageSystemAttributes', 'Only AWSTraceHeader may be sent.');
  }
  return {
    body,
    attributes: attributesOf(members(fields, 'MessageAttributes'), 'MessageAttributes'),
    trace: system.get('AWSTraceHeader')?.value ?? traceOfRequest,
  };
}

function attributesOf(sent: Fields, param: string): Attributes {
  const entries = Object.entries(sent);
  if (entries.length > ATTRIBUTES_MAX) throw invalid(param, `A message has at most ${ATTRIBUTES_MAX} attributes.`);
  return new Map(entries.map(([name, value]) => [name, attributeOf(name, value, param)]));
}

function attributeOf(name: string, sent: unknown, param: string): Attribute {
  const wrong = (reason: string) => invalid(`${param}.${name.slice(0, 64)}`, reason);
  if (!ATTRIBUTE_NAME.test(name) || (param === 'MessageAttributes' && RESERVED.test(name))) {
    throw wrong(
      'A name has 1 to 256 letters, digits, hyphens, underscores and single dots, and does not begin with AWS. or Amazon.',
    );
  }
  if (!isFields(sent)) throw wrong('It must be a map of DataType and a value.');
  const type = optionalText(sent, 'DataType') ?? '';
  const [, kind] = TYPE.exec(type) ?? [];
  if (kind === undefined || UNSTORABLE.test(type))
    throw wrong('DataType must be String, Number or Binary, or begin so.');
  const field = kind === 'Binary' ? 'BinaryValue' : 'StringValue';
  const value = optionalText(sent, field, Number.POSITIVE_INFINITY);
  if (value === undefined || value === '') throw wrong(`${field} is missing or empty.`);
  if (kind === 'Binary' && !BASE64.test(value)) throw wrong('BinaryValue must be base64.');
  if (kind === 'Number' && !NUMBER.test(value)) throw wrong('StringValue must be a number.');
  if (UNSTORABLE.test(value)) throw wrong('It contains characters that are not allowed.');
  return { type, value };
}

/** As SQS counts it: body, and names, types and values of attributes. */
export function sizeOf({ body, attributes }: SentMessage): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, { type, value }] of attributes) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(type) + bytesOf(type, value).length;
  }
  return bytes;
}

/** How the message is stored: JSON texts. */
export function storedMessage({ body, attributes, trace }: SentMessage, group: string | undefined) {
  const isPayload = publishTakes(body);
  const types = [...attributes].filter(([, { type }]) => type !== 'String').map(([name, { type }]) => [name, type]);
  const kept: Kept = {
    ...(isPayload ? {} : { text: true as const }),
    ...(types.length === 0 ? {} : { types: Object.fromEntries(types) }),
    ...(trace === undefined ? {} : { trace }),
    ...(group === undefined ? {} : { group }),
  };
  return {
    payload: isPayload ? body : JSON.stringify({ body }),
    headers:
      attributes.size === 0
        ? null
        : JSON.stringify(Object.fromEntries([...attributes].map(([name, { value }]) => [name, value]))),
    kept: Object.keys(kept).length === 0 ? null : JSON.stringify(kept),
  };
}

/** Whether it is a JSON object that publish would store as it stands. */
function publishTakes(body: string): boolean {
  if (!body.startsWith('{') || !body.endsWith('}')) return false;
  const { depth, containers } = nesting(body);
  // One level is the request's.
  if (depth >= depthMax || containers >= containersMax) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    // Text that looks like an object.
    return false;
  }
}

export interface ReadMessage extends SentMessage {
  readonly group: string | undefined;
}

/** A stored message as SQS shows it. */
export function readMessage(row: { payload: string; headers: string | null; sqs: string | null }): ReadMessage {
  const kept: Kept = row.sqs === null ? {} : JSON.parse(row.sqs);
  const headers = row.headers === null ? {} : (JSON.parse(row.headers) as Fields);
  const attributes = Object.entries(headers).map(([name, value]): [string, Attribute] => [
    name,
    {
      type: (Object.hasOwn(kept.types ?? {}, name) ? kept.types?.[name] : undefined) ?? 'String',
      value: typeof value === 'string' ? value : JSON.stringify(value),
    },
  ]);
  return {
    body: kept.text === true ? (JSON.parse(row.payload) as { body: string }).body : row.payload,
    attributes: new Map(attributes),
    trace: kept.trace,
    group: kept.group,
  };
}

export function md5(text: string): string {
  return hash('md5', text);
}

/** Of attributes, as SQS documents it: names in order, each with its type and value, and their lengths. */
export function attributesMd5(attributes: Attributes): string {
  const parts = [...attributes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, { type, value }]) => [
      ...withLength(Buffer.from(name)),
      ...withLength(Buffer.from(type)),
      Buffer.from([type.startsWith('Binary') ? 2 : 1]),
      ...withLength(bytesOf(type, value)),
    ]);
  return hash('md5', Buffer.concat(parts));
}

function withLength(bytes: Buffer): [Buffer, Buffer] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}

function bytesOf(type: string, value: string): Buffer {
  return Buffer.from(value, type.startsWith('Binary') ? 'base64' : 'utf8');
}

/** As the wire has them. */
export function attributeFields(attributes: Attributes): Fields {
  return Object.fromEntries(
    [...attributes].map(([name, { type, value }]) => [
      name,
      type.startsWith('Binary') ? { BinaryValue: value, DataType: type } : { StringValue: value, DataType: type },
    ]),
  );
}
