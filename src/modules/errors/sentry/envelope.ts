// Parser of JSON from SDKs, and of an envelope after sifting (sieve.ts): a line, and the event, if there is one.
import { isUtf8 } from 'node:buffer';
import { nestingDepth } from '../../../lib/json-source.ts';
import { problem } from '../../../problems/problem.ts';
import type { JsonObject } from '../intake/draft.ts';
import { DEPTH_MAX, EVENT_BYTES_MAX } from './numbers.ts';

export interface SentEnvelope {
  readonly header: JsonObject;
  /** Null when it carries none: sessions, transactions, client reports and the like. */
  readonly event: SentEvent | null;
}

export interface SentEvent {
  readonly value: JsonObject;
  /** Its JSON. */
  readonly text: string;
}

export const NEWLINE = 10;

/** A sifted envelope. Throws INVALID_REQUEST, MALFORMED_JSON or PAYLOAD_TOO_LARGE. */
export function parseEnvelope(sifted: Buffer): SentEnvelope {
  const event = sifted.subarray(sifted.indexOf(NEWLINE) + 1);
  const header = envelopeHeader(sifted.subarray(0, sifted.indexOf(NEWLINE)));
  return { header, event: event.length === 0 ? null : parseEvent(event) };
}

/** Its first line, which may name the key: what follows is not looked at before that is known to be good. */
export function envelopeHeader(line: Buffer): JsonObject {
  return parseObject(line, 'envelope header');
}

/** The event of an item, or of a body of the store endpoint. */
export function parseEvent(bytes: Buffer): SentEvent {
  if (bytes.length > EVENT_BYTES_MAX) throw eventTooLong();
  return readObject(bytes, 'event');
}

export function parseObject(bytes: Buffer, what: string): JsonObject {
  return readObject(bytes, what).value;
}

/** A Problem names neither the text nor where it breaks: the text may hold the key. */
function readObject(bytes: Buffer, what: string): SentEvent {
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
    throw brokenEnvelope(`The ${what} is not a JSON object.`);
  }
  return { value: value as JsonObject, text };
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('MALFORMED_JSON', { message: `The ${what} is not valid JSON.` });
  }
}

export function brokenEnvelope(message: string) {
  return problem('INVALID_REQUEST', { message });
}

export function eventTooLong() {
  return problem('PAYLOAD_TOO_LARGE', { message: `An event may have at most ${EVENT_BYTES_MAX} bytes.` });
}
