import Type from 'typebox';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { registrationRecord } from '../../../../webhooks/registrations/record.ts';
import { listRegistrations } from '../../../../webhooks/registrations/store.ts';
import { webhookSchema } from '../../webhook-schemas.ts';

export const webhooksList = defineCapability()({
  method: 'GET',
  path: '/v1/account/webhooks/list',
  summary: 'Lists the webhooks of the account.',
  description:
    'Every registration, newest first, page by page. Secrets are never shown, and credentials in headers are masked.',
  keywords: ['show webhooks', 'webhook endpoints'],
  input: Type.Object({ cursor: cursorField, limit: limitField }),
  output: pageOf(webhookSchema),
  examples: [{ title: 'The newest webhooks', input: { limit: 10 }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const { db, secrets } = ctx.core;
    const shown = await listPage(ctx, input, {
      read: (beforeId, limit) => listRegistrations(db, secrets, ctx.accountId, beforeId, limit),
      positionOf: ({ webhookId }) => webhookId,
    });
    return { data: { ...shown, items: shown.items.map(registrationRecord) } };
  },
});
