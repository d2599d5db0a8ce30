import Type from 'typebox';
import { eventsOf } from '../../../core/events/read.ts';
import { eventText } from '../../../core/events/wire.ts';
import { listPage } from '../../../core/secrets/cursors.ts';
import { checkOrder, instantField as instantOf } from '../../../core/usage/period.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { eventSchema } from '../../../kit/event-kind.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { sequenceAccount } from '../../../webhooks/sequencer.ts';
import { boundField } from '../list-fields.ts';
import { requireEventType } from '../webhook-changes.ts';

export const eventsList = defineCapability()({
  method: 'GET',
  path: '/v1/account/events/list',
  summary: 'Lists the events of the account.',
  description:
    'The events that webhooks receive, newest first, for 30 days, whether a webhook is registered or not. A gap in sequence means that you missed a page.',
  keywords: ['event log', 'event history', 'activity feed'],
  input: Type.Object({
    cursor: cursorField,
    limit: limitField,
    type: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'Only this event type, such as wallet.low_balance.' }),
    ),
    from: Type.Optional(boundField('Only events from then on.')),
    to: Type.Optional(boundField('Only events before then.')),
  }),
  output: pageOf(eventSchema),
  errors: ['INVALID_CURSOR', 'UNKNOWN_EVENT_TYPE'],
  examples: [
    { title: 'The newest events', input: { limit: 5 } },
    { title: 'When the balance ran low', input: { type: 'wallet.low_balance' } },
  ],
  async run({ ctx, input }) {
    const { db, region } = ctx.core;
    const filter = { type: input.type ?? null, fromMs: instantOf('from', input.from), toMs: instantOf('to', input.to) };
    if (filter.type !== null) requireEventType(ctx.core, filter.type, 'type');
    checkOrder(filter.fromMs, filter.toMs);
    const { items, ...rest } = await listPage(ctx, input, {
      filters: Object.values(filter).map(String),
      async read(before, limit) {
        await sequenceAccount(db, ctx.accountId);
        return eventsOf(db, ctx.accountId, filter, before === null ? null : BigInt(before), limit);
      },
      positionOf: (row) => String(row.sequence),
    });
    // Written as text: data may hold numbers that JSON.parse would change.
    const texts = items.map((row) => eventText(row, region)).join(',');
    return { data: new JsonText(`{"items":[${texts}],${JSON.stringify(rest).slice(1)}`) };
  },
});
