// Events as they are told, held against what discovery, the documentation and the OpenAPI document say of them.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { eventSchema } from '../../src/kit/event-kind.ts';
import { releasedEvents } from '../../src/kit/offer.ts';
import { manifest } from './capabilities.ts';
import type { Client } from './service.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);

// biome-ignore lint/suspicious/noExplicitAny: events of every kind
export type TestEvent = any;

/** What is wrong with an event; empty when it is as described, without a field more. */
export function eventFaults(event: TestEvent): string[] {
  const kind = releasedEvents(manifest).find(({ type }) => type === event.type);
  if (kind === undefined) return [`${event.type} is described nowhere`];
  const faults: string[] = [];
  if (!ajv.validate(eventSchema, event)) faults.push(`envelope: ${ajv.errorsText()}`);
  if (!ajv.validate(kind.data, event.data)) faults.push(ajv.errorsText());
  const { object } = kind.data.properties as Record<string, { properties: object }>;
  faults.push(...beyond(event, eventSchema.properties, ''), ...beyond(event.data, kind.data.properties, 'data.'));
  faults.push(...beyond(event.data.object, object?.properties ?? {}, 'data.object.'));
  return faults;
}

function beyond(value: object, described: object, path: string): string[] {
  return Object.keys(value)
    .filter((name) => !Object.hasOwn(described, name))
    .map((name) => `${path}${name} is not described`);
}

/** Every event of the account, newest first. */
export async function allEvents(call: Client): Promise<TestEvent[]> {
  const events: TestEvent[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `/v1/account/events/list?limit=100${cursor}`);
    events.push(...body.data.items);
    if (!body.data.has_more) return events;
    cursor = `&cursor=${encodeURIComponent(body.data.next_cursor)}`;
  }
}
