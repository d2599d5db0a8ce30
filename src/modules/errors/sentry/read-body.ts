// Reads the body of an SDK into an event that is ready to be stored. A long body takes milliseconds, so it is read in a thread.

import { type Encoding, inflateBody } from '../../../core/inflate.ts';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { ReadyEvent } from '../capture/capture-types.ts';
import type { JsonObject } from '../intake/draft.ts';
import { readyToStore } from '../intake/ready-to-store.ts';
import { parseEnvelope, parseEvent, type SentEnvelope } from './envelope.ts';
import { draftOfEvent } from './event-draft.ts';
import { EVENT_BYTES_MAX, STORE_BYTES_MAX } from './numbers.ts';
import { sift, WholeBody } from './sieve.ts';

export interface ReadEvent {
  /** 32 hexadecimal digits; null: none was sent. */
  readonly id: string | null;
  /** Null when the body carries none. */
  readonly event: ReadyEvent | null;
}

const EVENT_ID = /^[0-9a-f]{32}$/;

export const readEnvelope: BodyTask<ReadEvent> = {
  source: import.meta.url,
  id: 'errors.sentry.envelope',
  run: (body) => ready(parseEnvelope(body)),
};

/** A body that is the event itself. Old SDKs also send transactions so. */
export const readStored: BodyTask<ReadEvent> = {
  source: import.meta.url,
  id: 'errors.sentry.store',
  run: (body) => {
    const event = parseEvent(body);
    const isEvent = event.value.type !== 'transaction';
    return ready(isEvent ? { header: {}, event } : { header: { event_id: event.value.event_id }, event: null });
  },
};

function ready({ header, event }: SentEnvelope): ReadEvent {
  const id = idOf(header, event?.value ?? null);
  return { id, event: event === null ? null : readyToStore(draftOfEvent(event.value, Date.now(), event.text), id) };
}

function idOf(header: JsonObject, event: JsonObject | null): string | null {
  const sent = header.event_id ?? event?.event_id ?? null;
  if (sent === null) return null;
  const id = typeof sent === 'string' ? sent.replaceAll('-', '').toLowerCase() : '';
  if (!EVENT_ID.test(id)) throw invalidField('event_id', 'pattern', 'event_id must be 32 hexadecimal digits.');
  return id;
}

// Bodies of the store endpoint: the event as JSON or, as older SDKs send it, as base64 of its zlib (RFC 1950) or gzip (RFC 1952).

const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/;
const GZIP_BEGIN = 0x1f;
const ZLIB_BEGIN = 8;

/** The JSON of the event. Throws the Problem of a body that cannot be inflated. */
export async function storedEvent(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const sent = await sift(body, new WholeBody(STORE_BYTES_MAX));
  const text = sent.toString('latin1').trimEnd();
  if (!BASE64.test(text)) return sent;
  const packed = Buffer.from(text, 'base64');
  return sift(inflateBody(one(packed), encodingOf(packed), EVENT_BYTES_MAX), new WholeBody(EVENT_BYTES_MAX));
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function encodingOf(packed: Buffer): Encoding {
  const [first = 0] = packed;
  if (first === GZIP_BEGIN) return 'gzip';
  if ((first & 0x0f) === ZLIB_BEGIN) return 'deflate';
  throw problem('INVALID_REQUEST', { message: 'The body is neither JSON nor base64 of zlib or gzip.' });
}
