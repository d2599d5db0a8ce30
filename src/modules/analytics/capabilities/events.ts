import Type from 'typebox';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, instant, limitField, pageOf, textOrNull } from '../../../kit/fields.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { iso } from '../../../lib/time.ts';
import { findPerson, idsOf, namesOf } from '../people/person-store.ts';
import type { FoundEvent, Position } from '../queries/event-scan.ts';
import { eventsOf } from '../queries/find-events.ts';
import { ask, periodFields, periodOf } from '../queries/period.ts';
import type { AnalyticsState } from '../state.ts';
import { distinctIdField, eventField } from './questions.ts';

const eventSchema = Type.Object({
  uuid: textOrNull('As it was sent; null: none was.'),
  event: Type.String({ description: 'Name of the event.' }),
  distinct_id: Type.String({ description: 'Who did it, as it was sent.' }),
  timestamp: instant('When it happened.'),
  is_bot: Type.Boolean({ description: 'Whether a bot sent it.' }),
  properties: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'What was sent with it.' }),
});

export const events = defineCapability<AnalyticsState>()({
  method: 'GET',
  path: '/v1/analytics/events',
  summary: 'Lists events, newest first.',
  description:
    'Single events with their properties, by name, person and time; of a distinct ID those of all IDs of the same person. A page ends at 1 MiB of properties.',
  keywords: ['event stream', 'live events', 'activity of a user'],
  input: Type.Object({
    event: Type.Optional(eventField('Only events of this name.')),
    distinct_id: Type.Optional(distinctIdField),
    ...periodFields,
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(eventSchema),
  errors: ['QUERY_TOO_LARGE', 'CONCURRENCY_LIMITED'],
  examples: [
    {
      title: 'What somebody did',
      before: [{ capability: 'analytics.capture', input: { event: 'signed_up', distinct_id: 'e1' } }],
      input: { distinct_id: 'e1', limit: 10 },
    },
  ],
  async run({ ctx, input, state }) {
    const { secrets, db } = ctx.core;
    const { event = null, distinct_id: distinctId, include_bots: includeBots = false, limit = LIMIT_DEFAULT } = input;
    const filters = [event ?? '', distinctId ?? '', input.from ?? '', input.to ?? '', String(includeBots)];
    const binding = [ctx.accountId, 'analytics.events', ...filters];
    const after = input.cursor === undefined ? null : positionOf(decodeCursor(secrets, binding, input.cursor));
    const person = distinctId === undefined ? null : await findPerson(db, ctx.accountId, distinctId);
    const ids = person === null ? [] : await idsOf(db, ctx.accountId, person.person);
    const numbers = distinctId === undefined ? null : ids.map(({ number }) => number);
    const period = await periodOf(ctx, input);
    const found = await ask(ctx, state, period, (question) =>
      eventsOf(question, { event, numbers, after, limit, includeBots }),
    );
    const names = await namesOf(db, ctx.accountId, found.events);
    const last = found.events.at(-1);
    const next =
      found.hasMore && last !== undefined ? encodeCursor(secrets, binding, [last.timeMs, String(last.number)]) : null;
    // Of somebody who was deleted meanwhile nothing is shown.
    const items = found.events.flatMap((each) => {
      const name = names.get(each.id);
      return name === undefined ? [] : [itemOf(each, name)];
    });
    return {
      data: new JsonText(
        `{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(next)},"has_more":${found.hasMore}}`,
      ),
    };
  },
});

function positionOf([timeMs, number]: readonly (string | number)[]): Position {
  return { timeMs: timeMs as number, number: BigInt(number as string) };
}

function itemOf({ uuid, name, timeMs, isBot, properties }: FoundEvent, distinctId: string): string {
  const members = JSON.stringify({ uuid, event: name, distinct_id: distinctId, timestamp: iso(timeMs), is_bot: isBot });
  return `${members.slice(0, -1)},"properties":${properties}}`;
}
