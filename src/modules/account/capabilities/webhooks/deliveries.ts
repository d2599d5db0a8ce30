import Type from 'typebox';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { requireRow } from '../../../../kit/resource.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { type DeliveryStatus, deliveryRecord } from '../../../../webhooks/deliveries/record.ts';
import { listDeliveries } from '../../../../webhooks/deliveries/store.ts';
import { requireEventType } from '../../webhook-changes.ts';
import { webhooks } from '../../webhook-resource.ts';
import { deliverySchema, deliveryStatusField, webhookIdField } from '../../webhook-schemas.ts';

export const webhooksDeliveries = defineCapability()({
  method: 'GET',
  path: '/v1/account/webhooks/deliveries/{webhook_id}',
  summary: 'Lists the deliveries of a webhook.',
  description:
    'What was sent to the webhook, newest first, for 30 days, with every attempt and how it went. Those of a deleted webhook stay ' +
    'listed. Send one again with account.webhooks.redeliver.',
  keywords: ['webhook logs', 'failed webhook attempts', 'delivery history', 'why a webhook did not arrive'],
  input: Type.Object({
    webhook_id: webhookIdField,
    cursor: cursorField,
    limit: limitField,
    status: Type.Optional(deliveryStatusField),
    event_type: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'Only this event type, such as queue.dlq.' }),
    ),
  }),
  output: pageOf(deliverySchema),
  errors: ['WEBHOOK_NOT_FOUND', 'UNKNOWN_EVENT_TYPE'],
  examples: [
    {
      title: 'What could not be delivered',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { webhook_id: '$0.webhook_id', status: 'exhausted' },
      expect: { items: [], has_more: false },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const filter = { status: (input.status ?? null) as DeliveryStatus | null, eventType: input.event_type ?? null };
    if (filter.eventType !== null) requireEventType(ctx.core, filter.eventType, 'event_type');
    const shown = await listPage(ctx, input, {
      filters: [input.webhook_id, String(filter.status), String(filter.eventType)],
      read: (beforeId, limit) => listDeliveries(db, ctx.accountId, input.webhook_id, filter, beforeId, limit),
      positionOf: (row) => row.delivery_id,
    });
    if (shown.items.length === 0 && !(await hasDeliveries(ctx, input.webhook_id)))
      await requireRow(webhooks, db, ctx, input.webhook_id);
    return { data: { ...shown, items: shown.items.map(deliveryRecord) } };
  },
});

/** A deleted webhook is known by what it was sent. */
async function hasDeliveries(ctx: CallContext, webhookId: string): Promise<boolean> {
  const all = { status: null, eventType: null };
  return (await listDeliveries(ctx.core.db, ctx.accountId, webhookId, all, null, 1)).length > 0;
}
