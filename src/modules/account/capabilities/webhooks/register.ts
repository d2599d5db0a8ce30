import Type from 'typebox';
import { findReplay, runWrite } from '../../../../core/idempotency/write.ts';
import { SHORT_SECONDS } from '../../../../core/outbound/long-calls.ts';
import { signingRecipe } from '../../../../core/outbound/signature.ts';
import { secretLast4, signingSecret } from '../../../../core/outbound/signing-secret.ts';
import { checkTargetHeaders } from '../../../../core/outbound/target-headers.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { LONG_CALLS } from '../../../../kit/fields.ts';
import { registrationRecord } from '../../../../webhooks/registrations/record.ts';
import { checkUrl, registerWebhook, subscribedEvents } from '../../webhook-changes.ts';
import {
  descriptionField,
  eventsField,
  headersField,
  registeredWebhookSchema,
  retryPolicyField,
  secretField,
  timeoutSecondsField,
  urlField,
} from '../../webhook-schemas.ts';

const replay = { secret: true } as const;

export const webhooksRegister = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/register',
  summary: 'Registers a URL that events are sent to.',
  description:
    'From now on every event of the given types is POSTed to url, signed as Standard Webhooks says, with the secret of this answer, which ' +
    'is shown this once. Answer 2xx within timeout_seconds; anything else is tried again by retry_policy. A delivery may arrive more than ' +
    `once: its webhook-id stays the same. A url whose host does not resolve yet is taken with a warning.\n\n${signingRecipe}`,
  keywords: [
    'add webhook endpoint',
    'subscribe to events',
    'get notified',
    'event notifications',
    'callback url',
    'tell my server what happens',
  ],
  input: Type.Object({
    url: urlField,
    events: eventsField,
    description: Type.Optional(descriptionField),
    secret: Type.Optional(secretField('Null or absent: one is made.')),
    retry_policy: Type.Optional(retryPolicyField),
    timeout_seconds: Type.Optional(timeoutSecondsField),
    headers: Type.Optional(headersField),
  }),
  output: registeredWebhookSchema,
  replay,
  errors: ['UNKNOWN_EVENT_TYPE', 'WEBHOOK_URL_REJECTED', 'WEBHOOK_HEADER_REJECTED', 'QUOTA_EXCEEDED'],
  limits: {
    webhooks: '20 / 100 / 500 webhooks (standard / pro / enterprise), disabled ones included.',
    long_calls: LONG_CALLS,
  },
  examples: [
    {
      title: 'Be told when a message is dead-lettered',
      input: { url: 'https://example.org/hooks', events: ['queue.dlq'], description: 'dead letters' },
      expect: { url: 'https://example.org/hooks', events: ['queue.dlq'], retry_policy: 'default', status: 'enabled' },
    },
    {
      title: 'With credentials of its own and quick retries',
      input: {
        url: 'https://example.org/billing',
        events: ['wallet.low_balance', 'wallet.expired'],
        retry_policy: 'aggressive',
        headers: { Authorization: 'Bearer of-the-receiver' },
      },
      expect: { retry_policy: 'aggressive', description: null },
    },
  ],
  async run({ ctx, input }) {
    const settings = {
      url: input.url,
      events: subscribedEvents(ctx, input.events),
      description: input.description ?? null,
      retryPolicy: input.retry_policy ?? 'default',
      timeoutSeconds: input.timeout_seconds ?? SHORT_SECONDS,
      headers: checkTargetHeaders(input.headers ?? {}, 'headers'),
    };
    const secret = signingSecret(input.secret ?? null, 'secret');
    const replayed = await findReplay(ctx);
    if (replayed !== null) return replayed;
    await checkUrl(ctx, input.url);
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        const webhook = await registerWebhook(tx, ctx, settings, { secret, last4: secretLast4(secret) }, nowMs);
        return { ...registrationRecord(webhook), secret };
      },
      replay,
    );
  },
});
