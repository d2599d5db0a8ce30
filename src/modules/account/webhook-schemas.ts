// Fields and records of the webhook operations.

import Type from 'typebox';
import { instant, instantOrNull, textOrNull, timeoutField, wholeOrNull } from '../../kit/fields.ts';
import { alsoNamed } from '../../kit/second-names.ts';
import { deliveryStatuses } from '../../webhooks/deliveries/record.ts';

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 256;
const EVENTS_MAX = 100;
const SECRET_CHARACTERS_MAX = 256;

const idField = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_-]+$', description });

export const webhookIdField = alsoNamed(idField('Id of the webhook, `wh_…`, as register and list return it.'), 'id');
export const deliveryIdField = idField('Id of the delivery, `whd_…`, as deliveries and test return it.');

// No format: what is wrong with a URL is told by the check of targets, in its own words.
export const urlField = Type.String({
  minLength: 1,
  maxLength: URL_CHARACTERS_MAX,
  description: 'Where events are POSTed.',
});

export const eventsField = Type.Array(Type.String({ maxLength: 128 }), {
  minItems: 1,
  maxItems: EVENTS_MAX,
  description: `Event types to be told, from the catalogue at /docs/events, such as queue.dlq; GET /v1/discovery/event/{type} has the payload of each. A type named twice counts once.`,
});

export const descriptionField = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: DESCRIPTION_CHARACTERS_MAX,
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\p{Cs}]*$',
  description: `Note for people, at most ${DESCRIPTION_CHARACTERS_MAX} characters; of control characters only tabs and line breaks.`,
});

export const secretField = (absent: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: SECRET_CHARACTERS_MAX,
    writeOnly: true,
    description: `Signing secret: \`whsec_\` and base64 of 24 to 64 bytes, or any text of 24 to 64 bytes. ${absent}`,
  });

export const retryPolicyField = Type.Unsafe<'default' | 'aggressive' | null>({
  enum: ['default', 'aggressive', null],
  description:
    '`default`: 10 attempts over some three days; `aggressive`: 16 attempts, the first ones within seconds. Null means default.',
});

export const timeoutSecondsField = timeoutField('How long an answer may take');

export const headersField = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
  writeOnly: true,
  description:
    'Headers added to each delivery, name to value; null or empty: none. At most 20, visible ASCII up to 4 KiB each; hop-by-hop, ' +
    'content, cookie and webhook- headers are reserved. Stored encrypted; values are masked when read.',
});

const recordFields = {
  webhook_id: Type.String({ description: 'Id of the webhook.' }),
  url: Type.String({ description: 'Where events are POSTed.' }),
  events: Type.Array(Type.String(), { description: 'Event types it is told, each once.' }),
  description: textOrNull('Note for people.'),
  retry_policy: Type.Enum(['default', 'aggressive'], { description: 'When failed deliveries are tried again.' }),
  timeout_seconds: Type.Integer({ description: 'How long an answer may take, in seconds.' }),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Headers added to each delivery; values are masked.',
  }),
  status: Type.Enum(['enabled', 'disabled'], { description: 'A disabled webhook is told nothing.' }),
  disabled_reason: textOrNull(
    'Why it is disabled: `requested`, `gone` (its receiver answered 410) or `failing` (for days); null when enabled.',
  ),
  disabled_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When it was disabled; null when enabled.',
  }),
  failed_attempts: Type.Integer({ description: 'Failed attempts since the last delivery that succeeded.' }),
  failing_since: instantOrNull('When the first of these attempts failed; null when there is none.'),
  secret_last4: Type.String({ description: 'Last four characters of the current signing secret.' }),
  created_at: instant('When it was registered.'),
  updated_at: instant('When the record last changed.'),
};

const shownOnce = 'The signing secret, `whsec_…`. It is shown this once; store it where deliveries are received.';

export const webhookSchema = Type.Object(recordFields, { title: 'Webhook' });

export const registeredWebhookSchema = Type.Object(
  { ...recordFields, secret: Type.String({ description: shownOnce }) },
  { title: 'RegisteredWebhook' },
);

export const updatedWebhookSchema = Type.Object(
  {
    ...recordFields,
    secret: Type.Optional(Type.String({ description: `${shownOnce} Only there when the call set one.` })),
  },
  { title: 'UpdatedWebhook' },
);

const attemptSchema = Type.Object({
  attempt: Type.Integer({ description: 'Number of the attempt, from 1.' }),
  at: instant('When it ended.'),
  http_status: wholeOrNull('Status of the answer; null when none came.'),
  error_code: textOrNull('Why it failed; null when it succeeded.'),
  latency_ms: wholeOrNull('How long it took.'),
});

export const deliverySchema = Type.Object(
  {
    delivery_id: Type.String({ description: 'Id of the delivery.' }),
    webhook_id: Type.String({ description: 'Webhook it goes to.' }),
    event_id: Type.String({ description: 'Event it carries; on the wire as the header webhook-id.' }),
    event_type: Type.String({ description: 'Type of the event.' }),
    status: Type.Enum([...deliveryStatuses], {
      description:
        '`pending`: an attempt is due or runs. `succeeded`: answered 2xx. `failed`: a test that failed, or stopped early, since the receiver ' +
        'answered 410 or its address may not be reached. `exhausted`: no attempt is left. `cancelled`: the webhook was deleted. `skipped`: it was disabled.',
    }),
    attempt: Type.Integer({ description: 'Attempts begun so far.' }),
    next_attempt_at: instantOrNull('When the next attempt is due; null while one runs and when there is none.'),
    http_status: wholeOrNull('Status of the last answer; null when none came.'),
    error_code: textOrNull(
      'Why the last attempt failed: `http_status` when the answer was not 2xx, else why none came: `refused`, `dns`, `connect`, `tls`, ' +
        '`timeout`, `reset`, `protocol`; null when it succeeded.',
    ),
    latency_ms: wholeOrNull('How long the last attempt took.'),
    response_snippet: textOrNull('Up to 1 KiB of the last answer; a sentence when none came.'),
    request_headers: Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      description: 'Headers of the last attempt, credentials masked; null before the first one has ended.',
    }),
    attempts: Type.Array(attemptSchema, { description: 'Attempts that ended, oldest first.' }),
    created_at: instant('When the delivery was made.'),
    finished_at: instantOrNull('When it was over; null while pending.'),
  },
  { title: 'WebhookDelivery' },
);

export const deliveryStatusField = Type.Enum([...deliveryStatuses], {
  description: 'Only deliveries with this status.',
});
