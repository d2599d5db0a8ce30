// Reads the events of analytics.capture, as callers send them.
import Type, { type Static } from 'typebox';
import { alsoNamed } from '../../../kit/second-names.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import { invalidField } from '../../../problems/problem.ts';
import { BATCH_EVENTS_MAX, DISTINCT_ID_CHARACTERS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';
import type { Members } from './person-change.ts';
import { Intake, type ReadyEvents } from './ready-events.ts';

const eventName = Type.String({
  minLength: 1,
  maxLength: NAME_CHARACTERS_MAX,
  description: 'What happened: signed_up, $pageview.',
});
const distinctId = Type.String({
  minLength: 1,
  maxLength: DISTINCT_ID_CHARACTERS_MAX,
  description: 'Who did it: your ID of the user, or a random one of the browser until you know.',
});
const fields = {
  properties: Type.Optional(
    Type.Unsafe<Members>({
      type: 'object',
      description:
        'What else is known, at most 500 members and 64 KiB. $set and $set_once describe the person; $ip is dropped; of $user_agent bots are known.',
    }),
  ),
  timestamp: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When it happened; now when absent. At most 365 days old and 10 minutes ahead.',
    }),
  ),
  uuid: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Of events with the same one within 7 days the first counts, and is charged: send one, and repeat without fear.',
    }),
  ),
};
const eventSchema = Type.Object({ event: eventName, distinct_id: distinctId, ...fields });

export const captureSchema = Type.Object({
  event: Type.Optional(eventName),
  distinct_id: Type.Optional(distinctId),
  ...fields,
  items: alsoNamed(
    Type.Optional(
      Type.Array(eventSchema, {
        minItems: 1,
        maxItems: BATCH_EVENTS_MAX,
        description: 'Up to 1,000 events, in place of event and distinct_id.',
      }),
    ),
    'batch',
  ),
});

export function readyCapture(sent: Static<typeof captureSchema>, nowMs: number): ReadyEvents {
  const intake = new Intake(nowMs, BATCH_EVENTS_MAX);
  for (const { event, distinct_id, properties, timestamp, uuid } of eventsOf(sent)) {
    const timeMs = timestamp === undefined ? nowMs : parseInstant(timestamp);
    if (timeMs === null) intake.reject(`timestamp must be ${instantForm}.`);
    else intake.add({ event, distinctId: distinct_id, properties: properties ?? {}, timeMs, uuid: uuid ?? null }, null);
  }
  return intake.ready();
}

function eventsOf({ items, event, distinct_id, ...of }: Static<typeof captureSchema>) {
  if (items !== undefined) {
    if (event !== undefined || distinct_id !== undefined)
      throw invalidField('items', 'exclusive', 'Send either items, or event and distinct_id.');
    return items;
  }
  if (event === undefined) throw invalidField('event', 'required', 'event is required, or items.');
  if (distinct_id === undefined) throw invalidField('distinct_id', 'required', 'distinct_id is required.');
  return [{ event, distinct_id, ...of }];
}
