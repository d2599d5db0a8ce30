import Type from 'typebox';
import { findReplay, runWrite } from '../../../../core/idempotency/write.ts';
import { secretLast4, signingSecret } from '../../../../core/outbound/signing-secret.ts';
import { checkTargetHeaders } from '../../../../core/outbound/target-headers.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { registrationRecord } from '../../../../webhooks/registrations/record.ts';
import { changeWebhook, checkUrl, subscribedEvents } from '../../webhook-changes.ts';
import {
  descriptionField,
  eventsField,
  headersField,
  retryPolicyField,
  secretField,
  timeoutSecondsField,
  updatedWebhookSchema,
  urlField,
  webhookIdField,
} from '../../webhook-schemas.ts';

const replay = { secret: true } as const;

export const webhooksUpdate = defineCapability()({
  method: 'PATCH',
  path: '/v1/account/webhooks/update/{webhook_id}',
  summary: 'Changes a webhook, rotates its secret, or switches it off and on.',
  description:
    'Absent fields stay as they are. A new secret signs at once, and the one before beside it for 24 hours, so that receivers can ' +
    'change over; the answer shows it, this once. What is pending goes to the new url. status `disabled` stops deliveries and skips ' +
    'what is pending; `enabled` starts them again, also after the service disabled the webhook, and forgets its failures.',
  keywords: ['rotate webhook secret', 'enable webhook', 'disable webhook', 'change webhook url', 'turn a webhook off'],
  input: Type.Object({
    webhook_id: webhookIdField,
    url: Type.Optional(urlField),
    events: Type.Optional(eventsField),
    description: Type.Optional(descriptionField),
    secret: Type.Optional(secretField('Null: a new one is made. Absent: the secret stays.')),
    retry_policy: Type.Optional(retryPolicyField),
    timeout_seconds: Type.Optional(timeoutSecondsField),
    headers: Type.Optional(headersField),
    status: Type.Optional(
      Type.Enum(['enabled', 'disabled'], { description: '`disabled` stops deliveries, `enabled` starts them again.' }),
    ),
  }),
  output: updatedWebhookSchema,
  replay,
  errors: ['WEBHOOK_NOT_FOUND', 'UNKNOWN_EVENT_TYPE', 'WEBHOOK_URL_REJECTED', 'WEBHOOK_HEADER_REJECTED'],
  limits: {
    secrets: 'The current secret and the one before it sign.',
  },
  examples: [
    {
      title: 'Rotate the secret',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { webhook_id: '$0.webhook_id', secret: null },
      expect: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
    },
    {
      title: 'Switch it off',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { webhook_id: '$0.webhook_id', status: 'disabled' },
      expect: { status: 'disabled', disabled_reason: 'requested' },
    },
  ],
  async run({ ctx, input }) {
    const secret = input.secret === undefined ? undefined : signingSecret(input.secret, 'secret');
    const patch = {
      url: input.url,
      events: input.events === undefined ? undefined : subscribedEvents(ctx, input.events),
      description: input.description,
      retryPolicy: input.retry_policy === undefined ? undefined : (input.retry_policy ?? 'default'),
      timeoutSeconds: input.timeout_seconds,
      headers: input.headers === undefined ? undefined : checkTargetHeaders(input.headers ?? {}, 'headers'),
      signing: secret === undefined ? undefined : { secret, last4: secretLast4(secret) },
      status: input.status as 'enabled' | 'disabled' | undefined,
    };
    const replayed = await findReplay(ctx);
    if (replayed !== null) return replayed;
    if (input.url !== undefined) await checkUrl(ctx, input.url);
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        const webhook = await changeWebhook(tx, ctx, input.webhook_id, patch, nowMs);
        return { ...registrationRecord(webhook), ...(secret === undefined ? {} : { secret }) };
      },
      replay,
    );
  },
});
