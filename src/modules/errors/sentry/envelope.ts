// An envelope: a line of JSON, then items, each a line of JSON and a payload, which has the length that its header says or ends with
// the line (develop.sentry.dev/sdk/data-model/envelopes). Only the event is kept.
import { isUtf8 } from 'node:buffer';
import { nestingDepth } from '../../../lib/json-source.ts';
import { problem } from '../../../problems/problem.ts';
import type { JsonObject } from '../draft.ts';
import { DEPTH_MAX, EVENT_BYTES_MAX, HEADER_BYTES_MAX, ITEMS_MAX } from './numbers.ts';

export interface SentEnvelope {
  readonly header: JsonObject;
  /** Null when it carries none: sessions, transactions, client reports and the like. */
  readonly event: JsonObject | null;
}

const NEWLINE = 10;

/** Throws INVALID_REQUEST, MALFORMED_JSON or PAYLOAD_TOO_LARGE. */
export function parseEnvelope(body: Buffer): SentEnvelope {
  const reader = new Reader(body);
  const header = parseObject(reader.line(), 'envelope header');
  let payload: Buffer | null = null;
  for (let items = 0; reader.skipBlankLines(); items += 1) {
    if (items === ITEMS_MAX) throw broken(`An envelope may have at most ${ITEMS_MAX} items.`);
    const item = parseObject(reader.line(), 'item header');
    const bytes = reader.payload(item.length);
    if (item.type !== 'event') continue;
    if (payload !== null) throw broken('An envelope has at most one event.');
    payload = bytes;
  }
  return { header, event: payload === null ? null : parseEvent(payload) };
}

/** The first line alone, which may name the key: what follows is not looked at before that is known to be good. */
export function envelopeHeader(body: Buffer): JsonObject {
  const line = new Reader(body).line();
  if (line.length > HEADER_BYTES_MAX)
    throw broken(`The header of an envelope may have at most ${HEADER_BYTES_MAX} bytes.`);
  return parseObject(line, 'envelope header');
}

/** The event of an item, or of a body of the store endpoint. */
export function parseEvent(bytes: Buffer): JsonObject {
  if (bytes.length > EVENT_BYTES_MAX) {
    throw problem('PAYLOAD_TOO_LARGE', { message: `An event may have at most ${EVENT_BYTES_MAX} bytes.` });
  }
  return parseObject(bytes, 'event');
}

class Reader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** False at the end. */
  skipBlankLines(): boolean {
    while (this.#body[this.#at] === NEWLINE) this.#at += 1;
    return this.#at < this.#body.length;
  }

  line(): Buffer {
    const found = this.#body.indexOf(NEWLINE, this.#at);
    const end = found === -1 ? this.#body.length : found;
    const bytes = this.#body.subarray(this.#at, end);
    this.#at = Math.min(end + 1, this.#body.length);
    return bytes;
  }

  payload(length: unknown): Buffer {
    if (length === undefined || length === null) return this.line();
    if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) {
      throw broken('The length of an item is not a number of bytes.');
    }
    const end = this.#at + length;
    if (end > this.#body.length) throw broken('The envelope ends within an item.');
    const bytes = this.#body.subarray(this.#at, end);
    const next = this.#body[end];
    if (next !== undefined && next !== NEWLINE) throw broken('An item is longer than its header says.');
    this.#at = next === undefined ? end : end + 1;
    return bytes;
  }
}

/** A Problem names neither the text nor where it breaks: the text may hold the key. */
function parseObject(bytes: Buffer, what: string): JsonObject {
  if (!isUtf8(bytes)) throw problem('MALFORMED_JSON', { message: `The ${what} is not valid UTF-8.` });
  const text = bytes.toString('utf8');
  if (nestingDepth(text) > DEPTH_MAX) {
    throw problem('MALFORMED_JSON', {
      message: `The ${what} is nested deeper than ${DEPTH_MAX} levels.`,
      detail: 'depth',
    });
  }
  const value = parse(text, what);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw broken(`The ${what} is not a JSON object.`);
  }
  return value as JsonObject;
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('MALFORMED_JSON', { message: `The ${what} is not valid JSON.` });
  }
}

function broken(message: string) {
  return problem('INVALID_REQUEST', { message });
}
