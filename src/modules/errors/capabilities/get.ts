import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../problems.ts';
import { firstKeptSeq } from '../retention.ts';
import { eventIdField, eventSchema } from '../schemas.ts';
import { eventRecord } from '../search/event-record.ts';
import { findEvent, neighboursOf } from '../search/event-store.ts';
import type { ErrorsState } from '../state.ts';

export const get = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/get/{event_id}',
  summary: 'Gets an error event.',
  description:
    'The event in full: stack trace, breadcrumbs, context, what is known of its group, and the events of the group before and after it.',
  keywords: ['stack trace of one event', 'exception details', 'show one error'],
  input: Type.Object({ event_id: eventIdField }),
  output: eventSchema,
  errors: ['EVENT_NOT_FOUND'],
  examples: [
    {
      title: 'One event',
      before: [
        { capability: 'errors.capture', input: { message: 'disk full', level: 'fatal', extra: { free_mb: 0 } } },
      ],
      input: { event_id: '$0.event_id' },
      expect: { title: 'disk full', level: 'fatal', extra: { free_mb: 0 }, group_count: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    const notFound = () => problem('EVENT_NOT_FOUND', { param: 'event_id' });
    const seq = state.ids.parseEvent(ctx.accountId, input.event_id);
    if (seq === null) throw notFound();
    const first = firstKeptSeq(await clockNow(db));
    const row = seq < first ? null : await findEvent(db, ctx.accountId, seq);
    if (row === null) throw notFound();
    return { data: eventRecord(state, ctx.accountId, row, await neighboursOf(db.hot, ctx.accountId, row, first)) };
  },
});
