// Description of an event type for the surfaces: its data, and a whole event as a webhook receives it.
import { eventApiVersion } from '../../core/events/wire.ts';
import type { DescribedEvent, ToldEvent } from '../../kit/offer.ts';
import { asJsonSchema, type JsonSchema } from '../../manifest/json-schema.ts';

export interface EventDocument {
  readonly type: string;
  readonly module: string;
  readonly status: 'ga' | 'planned';
  readonly summary: string;
  /** Absent, as the example, while it is planned. */
  readonly data_schema?: JsonSchema;
  /** A whole event. */
  readonly example?: object;
}

export function eventDocument(event: DescribedEvent, region: string): EventDocument {
  const { type, module, status, summary } = event;
  if (event.status === 'planned') return { type, module, status, summary };
  return { type, module, status, summary, data_schema: asJsonSchema(event.data), example: wholeEvent(event, region) };
}

/** The example in its envelope (contract of webhooks). */
export function wholeEvent({ type, example }: ToldEvent, region: string): object {
  return {
    event_id: 'evt_0vTq3mXkfR7bYc1LpZs8Ne',
    type,
    timestamp: '2026-11-01T12:00:00.000Z',
    api_version: eventApiVersion,
    account_id: 'acct_anon_0vTq3mXkfR7bYc1LpZs8Ne',
    region,
    sequence: 42,
    test: false,
    request_id: null,
    data: example,
  };
}
