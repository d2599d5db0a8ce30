// Record shapes of Cloudflare: one value each, hosts without the last dot, MX with its own `priority`, SRV and CAA as `data`, texts in quotes. A
// time to live of 1 is automatic, which is 300 s; others are 60 to 86,400.

import { at, numberAt, textAt } from '../../../../vendors/call/answer.ts';
import { TTL_USUAL } from '../../limits.ts';
import { liesIn, readName } from '../../records/names.ts';
import { BadValue } from '../../records/tokens.ts';
import { fileValue, type RecordType, readValue, recordTypes } from '../../records/values.ts';

const AUTOMATIC = 1;
const [LEAST, MOST] = [60, 86_400];
const CHARACTERS_MAX = 40_000;

export interface CloudflareRecord {
  readonly id: string;
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly value: string;
  /** Answered with Cloudflare's own addresses, and its time to live is always automatic. */
  readonly isProxied: boolean;
}

export function ttlThere(seconds: number): number {
  return Math.min(Math.max(seconds, LEAST), MOST);
}

/** Null: of a type, or with a value, that is not served. */
export function readRecord(sent: unknown, zone: string): CloudflareRecord | null {
  const id = textAt(sent, 'id', 64);
  const name = readName(textAt(sent, 'name', 300) ?? '');
  const type = recordTypes.find((each) => each === at(sent, 'type'));
  if (id === null || !/^[0-9A-Za-z_-]+$/.test(id) || name === null || !liesIn(name, zone) || type === undefined)
    return null;
  const value = storedValue(sent, type);
  if (value === null) return null;
  const ttl = numberAt(sent, 'ttl') ?? AUTOMATIC;
  return { id, name, type, ttl: ttl === AUTOMATIC ? TTL_USUAL : ttl, value, isProxied: at(sent, 'proxied') === true };
}

function storedValue(sent: unknown, type: RecordType): string | null {
  const content = textAt(sent, 'content', CHARACTERS_MAX) ?? '';
  const of = (field: string) => String(at(sent, `data.${field}`) ?? '');
  const host = (text: string) => (text === '' || text === '.' ? '.' : text);
  try {
    if (type === 'MX') return readValue(type, `${numberAt(sent, 'priority') ?? 0} ${host(content)}`);
    if (type === 'SRV') return readValue(type, `${of('priority')} ${of('weight')} ${of('port')} ${host(of('target'))}`);
    if (type === 'CAA') return readValue(type, `${of('flags')} ${of('tag')} "${of('value')}"`);
    return readValue(type, content);
  } catch (error) {
    if (error instanceof BadValue) return null;
    throw error;
  }
}

/** As `posts` of a batch take it. */
export function writeRecord(name: string, type: RecordType, ttl: number, value: string) {
  return {
    name,
    type,
    ttl,
    ...(type === 'A' || type === 'AAAA' || type === 'CNAME' ? { proxied: false } : {}),
    ...dataOf(type, value),
  };
}

function dataOf(type: RecordType, value: string): object {
  if (type === 'TXT') return { content: fileValue(type, value) };
  const [first = '', second = '', third = '', fourth = ''] = value.split(' ');
  if (type === 'MX') return { priority: Number(first), content: second };
  if (type === 'SRV') {
    return { data: { priority: Number(first), weight: Number(second), port: Number(third), target: fourth } };
  }
  if (type !== 'CAA') return { content: value };
  const [, flags = '', tag = '', text = ''] = /^(\d+) (\w+) "(.*)"$/.exec(value) ?? [];
  return { data: { flags: Number(flags), tag, value: text } };
}
