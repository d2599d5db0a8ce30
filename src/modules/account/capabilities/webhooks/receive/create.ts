import Type from 'typebox';
import { runWrite } from '../../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../../kit/capability.ts';
import { requireRoom } from '../../../../../kit/resource.ts';
import { newId } from '../../../../../lib/ids.ts';
import { receiverLimits } from '../../../receivers/limits.ts';
import {
  descriptionField,
  filterField,
  nameField,
  receiverWithSecretSchema,
  toField,
  verifyField,
} from '../../../receivers/schemas.ts';
import { checkFilter, checkTarget, checkVerification, requireMayPublish } from '../../../receivers/settings.ts';
import { receiverRecord, saveReceiver, sealSecret } from '../../../receivers/store.ts';

const replay = { secret: true } as const;

export const receiveCreate = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/receive/create',
  summary: 'Creates an address that receives webhooks of another service.',
  description:
    'Each request to `url` is verified and becomes one message {receiver_id, name, event, delivery_id, headers, received_at, body or ' +
    'body_base64} of a queue or channel, in one commit, at the price of queue.publish or realtime.publish. The sender gets 202 then, 200 ' +
    'for a repeat of its delivery id within 24 hours, 401 for a wrong signature, and 503 with Retry-After while nothing can be published ' +
    '(no credit, no such queue). A form becomes an object. Challenges of Slack, Lark, monday.com, Meta, Dropbox and Microsoft Graph are ' +
    'answered. The receiver belongs to the account and does not end with the key that made it.',
  keywords: [
    'receive webhooks',
    'incoming webhook',
    'inbound webhook url',
    'github webhook to queue',
    'stripe webhook to queue',
    'slack events',
    'verify webhook signature',
    'webhook endpoint for another service',
  ],
  input: Type.Object({
    name: nameField,
    verify: verifyField,
    to: toField,
    filter: Type.Optional(filterField),
    description: Type.Optional(descriptionField),
  }),
  output: receiverWithSecretSchema,
  replay,
  laterPrices: ['queue.publish', 'realtime.publish'],
  errors: ['QUOTA_EXCEEDED', 'SCOPE_ESCALATION', 'EXPIRY_TOO_LATE'],
  limits: {
    receivers: '20 / 200 / 2,000 receivers (standard / pro / enterprise).',
    requests: '100 / 1,000 / 10,000 requests a second.',
    size: 'Requests up to 1 MiB; a message holds 256 KiB, in a channel 10 KiB: more is 413.',
  },
  examples: [
    {
      title: 'GitHub into a queue',
      before: [{ capability: 'queue.create', input: { name: 'github' } }],
      input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
      expect: { state: 'active', to: { queue: 'github', channel: null } },
    },
    {
      title: 'Paid invoices of Stripe',
      before: [{ capability: 'queue.create', input: { name: 'payments' } }],
      input: {
        name: 'stripe',
        verify: { scheme: 'stripe', secret: 'whsec_of_the_endpoint_at_stripe' },
        to: { queue: 'payments' },
        filter: { events: ['invoice.*'], json: { '>': [{ var: 'body.data.object.amount_paid' }, 0] } },
      },
      expect: { secret: null },
    },
  ],
  async run({ ctx, input }) {
    const { columns, secret, isMade } = checkVerification(input.verify);
    const target = checkTarget(input.to);
    const filter = checkFilter(input.filter ?? null);
    return runWrite(
      ctx,
      async (tx, entry) => {
        const { nowMs } = entry;
        requireMayPublish(entry, target);
        await requireRoom(tx, ctx, 'webhook receiver', receiverLimits.webhook_receivers);
        const receiverId = newId('whr_', nowMs);
        const row = saveReceiver(tx, ctx, {
          receiver_id: receiverId,
          name: input.name,
          description: input.description ?? null,
          ...columns,
          secret: secret == null ? null : sealSecret(ctx.core, receiverId, secret),
          ...target,
          filter,
          disabled: false,
          address_number: 1,
          revision: 1,
          created_by: ctx.principal.id,
          last_received_at: null,
          failing_code: null,
          failing_at: null,
          created_at: nowMs,
          updated_at: nowMs,
        });
        return { ...receiverRecord(ctx.core, ctx.accountId, row), secret: isMade ? (secret ?? null) : null };
      },
      replay,
    );
  },
});
