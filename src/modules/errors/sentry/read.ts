// From the body of an SDK to an event that is ready to be stored: of long bodies this takes milliseconds, and is done in a thread.
import type { BodyTask } from '../../../manifest/raw-route.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { ReadyEvent } from '../capture/capture-types.ts';
import type { JsonObject } from '../intake/draft.ts';
import { readyToStore } from '../intake/ready-to-store.ts';
import { parseEnvelope, parseEvent, type SentEnvelope } from './envelope.ts';
import { draftOfEvent } from './event-draft.ts';

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
