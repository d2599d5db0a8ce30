// XML answers of the query protocol: a list is written as repeated elements.
import type { SqsFailure } from './failures.ts';
import { type Fields, isFields } from './request.ts';

const NAMESPACE = 'http://queue.amazonaws.com/doc/2012-11-05/';
/** What each entry of a list is called. */
const ENTRIES: Readonly<Record<string, string>> = {
  QueueUrls: 'QueueUrl',
  queueUrls: 'QueueUrl',
  Messages: 'Message',
  Failed: 'BatchResultErrorEntry',
  Results: 'ListMessageMoveTasksResultEntry',
};
/** What each pair of a map is called, and its key. */
const PAIRS: Readonly<Record<string, readonly [name: string, key: string]>> = {
  Attributes: ['Attribute', 'Name'],
  MessageAttributes: ['MessageAttribute', 'Name'],
  Tags: ['Tag', 'Key'],
};

export function xmlAnswer(action: string, fields: Fields, requestId: string): string {
  // Also without content: botocore wants the element.
  const result = `<${action}Result>${membersOf(fields, `${action}ResultEntry`)}</${action}Result>`;
  return `<?xml version="1.0"?><${action}Response xmlns="${NAMESPACE}">${result}<ResponseMetadata><RequestId>${escapeXml(requestId)}</RequestId></ResponseMetadata></${action}Response>`;
}

export function xmlFailure({ queryName, message, type }: SqsFailure, requestId: string): string {
  const error = `<Type>${type}</Type><Code>${queryName}</Code><Message>${escapeXml(message)}</Message><Detail/>`;
  return `<?xml version="1.0"?><ErrorResponse xmlns="${NAMESPACE}"><Error>${error}</Error><RequestId>${escapeXml(requestId)}</RequestId></ErrorResponse>`;
}

function membersOf(fields: Fields, successful: string): string {
  return Object.entries(fields)
    .map(([name, value]) => memberOf(name, value, successful))
    .join('');
}

function memberOf(name: string, value: unknown, successful: string): string {
  if (Array.isArray(value)) {
    const entry = name === 'Successful' ? successful : (ENTRIES[name] as string);
    return value.map((each) => element(entry, each, successful)).join('');
  }
  const pair = PAIRS[name];
  if (pair === undefined || !isFields(value)) return element(name, value, successful);
  const [entry, key] = pair;
  return Object.entries(value)
    .map(([of, each]) => `<${entry}><${key}>${escapeXml(of)}</${key}>${element('Value', each, successful)}</${entry}>`)
    .join('');
}

function element(name: string, value: unknown, successful: string): string {
  return `<${name}>${isFields(value) ? membersOf(value, successful) : escapeXml(String(value))}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Parsers make a line feed of it otherwise.
  '\r': '&#13;',
};

/** What XML cannot hold, as native payloads may: clients would fail at the whole answer. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** The text as XML can hold it. */
export function writable(text: string): string {
  return text.replaceAll(UNWRITABLE, '\ufffd');
}

function escapeXml(text: string): string {
  return writable(text).replaceAll(/[&<>"\r]/g, (character) => ESCAPES[character] as string);
}
