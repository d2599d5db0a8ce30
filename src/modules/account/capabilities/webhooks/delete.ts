import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { textOrNull } from '../../../../kit/fields.ts';
import { removeWebhook } from '../../webhook-changes.ts';
import { webhookIdField } from '../../webhook-schemas.ts';

export const webhooksDelete = defineCapability()({
  method: 'DELETE',
  path: '/v1/account/webhooks/delete/{id}',
  summary: 'Deletes a webhook.',
  description:
    'No further delivery begins; what was pending is cancelled. Its deliveries stay listed for their 30 days. A missing webhook is no ' +
    'error: deleted is false.',
  keywords: ['remove webhook', 'unsubscribe from events'],
  input: Type.Object({ id: webhookIdField }),
  output: Type.Object({
    id: Type.String({ description: 'The id sent.' }),
    deleted: Type.Boolean({ description: 'Whether there was such a webhook.' }),
    status: textOrNull('`not_found` when there was none, else null.'),
  }),
  examples: [
    {
      title: 'Delete',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { id: '$0.id' },
      expect: { deleted: true, status: null },
    },
    {
      title: 'Nothing there',
      input: { id: 'wh_0000000000000000000000' },
      expect: { deleted: false, status: 'not_found' },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx, { nowMs }) => {
      const deleted = await removeWebhook(tx, ctx.accountId, input.id, nowMs);
      return { id: input.id, deleted, status: deleted ? null : 'not_found' };
    });
  },
});
