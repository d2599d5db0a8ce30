// Parser of SQS requests in both protocols: JSON (AWS JSON 1.0, the action in a header), and forms (query protocol, 2012-11-05). A form is
// converted to the shape of the JSON protocol; its numbers stay strings.
import { isUtf8 } from 'node:buffer';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { nesting } from '../../../lib/json-source.ts';
import { invalid, missing, refusal } from './failures.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface SqsRequest {
  readonly action: string;
  readonly fields: Fields;
}

const DEPTH_MAX = 10;
/** Ten entries with ten attributes of four fields each, and room. */
const FIELDS_MAX = 2_000;

/** Names of a form, each with a number behind it, that are lists. */
const LISTS: Readonly<Record<string, string>> = {
  AttributeName: 'AttributeNames',
  MessageAttributeName: 'MessageAttributeNames',
  MessageSystemAttributeName: 'MessageSystemAttributeNames',
  TagKey: 'TagKeys',
  SendMessageBatchRequestEntry: 'Entries',
  DeleteMessageBatchRequestEntry: 'Entries',
  ChangeMessageVisibilityBatchRequestEntry: 'Entries',
};
/** Those that are maps: the list's name, and what its key and value are called. */
const MAPS: Readonly<Record<string, readonly [name: string, key: string]>> = {
  Attribute: ['Attributes', 'Name'],
  MessageAttribute: ['MessageAttributes', 'Name'],
  MessageSystemAttribute: ['MessageSystemAttributes', 'Name'],
  Tag: ['Tags', 'Key'],
};

export const readJsonFields: BodyTask<Fields> = {
  source: import.meta.url,
  id: 'queue.sqs.json',
  run(body) {
    if (!isUtf8(body)) throw refusal('SerializationException', 'The body is not valid UTF-8.');
    const text = body.length === 0 ? '{}' : body.toString('utf8');
    const { depth, members, containers } = nesting(text);
    if (depth > DEPTH_MAX || members > FIELDS_MAX || containers > FIELDS_MAX) {
      throw refusal('SerializationException', 'The body is nested too deep, or has too many members.');
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw refusal('SerializationException', 'The body is not valid JSON.');
    }
    if (!isFields(value)) throw refusal('SerializationException', 'The body must be a JSON object.');
    return value;
  },
};

export const readForm: BodyTask<SqsRequest> = {
  source: import.meta.url,
  id: 'queue.sqs.form',
  run(body) {
    if (!isUtf8(body)) throw refusal('InvalidParameterValue', 'The form is not encoded as UTF-8.');
    return formOf(body.toString('utf8'));
  },
};

const ACTION = Buffer.from('Action=');
const ACTION_CHARACTERS_MAX = 64;

/** The action that a form names, without decoding the rest; null: none. */
export function actionIn(body: Buffer): string | null {
  for (let at = body.indexOf(ACTION); at !== -1; at = body.indexOf(ACTION, at + 1)) {
    if (at > 0 && body[at - 1] !== AMPERSAND) continue;
    const text = body.toString('latin1', at + ACTION.length, at + ACTION.length + ACTION_CHARACTERS_MAX);
    return text.split('&', 1)[0] as string;
  }
  return null;
}

const AMPERSAND = 38;

/** `Action=…&QueueUrl=…`, of a body or an address. */
export function formOf(text: string): SqsRequest {
  if (text.split('&', FIELDS_MAX + 1).length > FIELDS_MAX) {
    throw refusal('InvalidParameterValue', `A form has at most ${FIELDS_MAX} fields.`);
  }
  const tree: Tree = new Map();
  for (const pair of text.split('&')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
    if (name !== '') place(tree, decodeText(name), decodeText(value));
  }
  const action = tree.get('Action');
  if (typeof action !== 'string')
    throw refusal('InvalidAction', 'The form must contain the parameter Action.', 'Action');
  return { action, fields: fieldsOf(tree) };
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refusal('InvalidParameterValue', 'The form is not encoded as UTF-8.');
  }
}

type Tree = Map<string, Tree | string>;

/** `Tag.1.Key=a`: a tree of its parts. */
function place(tree: Tree, name: string, value: string): void {
  const parts = name.split('.', DEPTH_MAX);
  const last = parts.pop() as string;
  let at = tree;
  for (const part of parts) {
    const next = at.get(part) ?? new Map();
    if (typeof next === 'string') return;
    at.set(part, next);
    at = next;
  }
  at.set(last, value);
}

function fieldsOf(tree: Tree): Fields {
  return Object.fromEntries(
    [...tree].map(([name, value]): [string, unknown] => {
      const list = LISTS[name];
      const map = MAPS[name];
      if (value === '') return [name, emptyOf(name)];
      if (typeof value === 'string') return [name, value];
      if (list !== undefined) return [list, numberedItems(value).map(plain)];
      return map === undefined ? [name, fieldsOf(value)] : [map[0], mapOf(value, name, map[1])];
    }),
  );
}

/** A bare name is what botocore sends of an empty list or map. */
function emptyOf(name: string): unknown {
  if (Object.values(LISTS).includes(name)) return [];
  return Object.values(MAPS).some(([map]) => map === name) ? {} : '';
}

function plain(value: Tree | string): unknown {
  return typeof value === 'string' ? value : fieldsOf(value);
}

function mapOf(tree: Tree, name: string, keyName: string): Fields {
  const pairs = numberedItems(tree).map((each): [string, unknown] => {
    const { [keyName]: key, Value: value } = typeof each === 'string' ? {} : fieldsOf(each);
    if (typeof key !== 'string') throw missing(`${name}.N.${keyName}`);
    return [key, value];
  });
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw invalid(name, 'A name stands in it twice.');
  return Object.fromEntries(pairs);
}

/** In the order of their numbers. */
function numberedItems(tree: Tree): (Tree | string)[] {
  return [...tree]
    .filter(([name]) => /^\d{1,6}$/.test(name))
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, value]) => value);
}

export function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Undefined: it was not sent. */
export function optionalText(fields: Fields, name: string, lengthMax = 1024): string | undefined {
  const value = of(fields, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(name, 'It must be a text.');
  if (value.length > lengthMax) throw invalid(name, `It may have at most ${lengthMax} characters.`);
  return value;
}

export function requiredText(fields: Fields, name: string, lengthMax?: number): string {
  const value = optionalText(fields, name, lengthMax);
  if (value === undefined || value === '') throw missing(name);
  return value;
}

export function optionalInteger(fields: Fields, name: string, min: number, max: number): number | undefined {
  const value = of(fields, name);
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isInteger(number) || (number as number) < min || (number as number) > max) {
    throw invalid(name, `It must be an integer from ${min} to ${max}.`);
  }
  return number as number;
}

/** Empty: none were sent. */
export function texts(fields: Fields, name: string, countMax = 100): string[] {
  const value = of(fields, name) ?? [];
  if (!Array.isArray(value) || value.length > countMax)
    throw invalid(name, `It must be a list of at most ${countMax}.`);
  return value.map((each) => {
    if (typeof each === 'string' && each.length <= 1024) return each;
    throw invalid(name, 'It must be a list of texts.');
  });
}

/** Empty: none were sent. */
export function members(fields: Fields, name: string): Fields {
  const value = of(fields, name) ?? {};
  if (isFields(value)) return value;
  throw invalid(name, 'It must be a map.');
}

function of(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
