// Schemas of the push operations.
import Type from 'typebox';
import { LEASE_MARGIN_SECONDS } from '../../../core/outbound/long-calls.ts';
import { timeoutField } from '../../../kit/fields.ts';
import { IN_FLIGHT_MAX, LEASE_SECONDS_MIN, VISIBILITY_SECONDS_MAX } from '../limits.ts';
import { queueName } from '../schemas.ts';

const URL_CHARACTERS_MAX = 2_048;
const SECRET_CHARACTERS_MAX = 256;

export const subscribeFields = {
  queue: queueName('Queue whose messages are pushed.'),
  // No format: what is wrong with a URL is told by the check of targets, in its own words.
  url: Type.String({
    minLength: 1,
    maxLength: URL_CHARACTERS_MAX,
    description: 'Where messages are POSTed.',
  }),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      writeOnly: true,
      description:
        'Headers added to each request, name to value; null or empty: none. At most 20, visible ASCII up to 4 KiB each; hop-by-hop, ' +
        'content, cookie and webhook- headers are reserved. Stored encrypted, masked when read.',
    }),
  ),
  secret: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: SECRET_CHARACTERS_MAX,
      writeOnly: true,
      description:
        'Signing secret: `whsec_` and base64 of 24 to 64 bytes, or any text of 24 to 64 bytes. Null or absent: one is made.',
    }),
  ),
  visibility_timeout: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: LEASE_SECONDS_MIN,
      maximum: VISIBILITY_SECONDS_MAX,
      description:
        `Length of the lease of a pushed message in seconds, ${LEASE_SECONDS_MIN} to ${VISIBILITY_SECONDS_MAX}. ` +
        `Null or absent: that of the queue, at least ${LEASE_MARGIN_SECONDS} more than timeout_seconds, which is the least that it may be.`,
    }),
  ),
  timeout_seconds: Type.Optional(timeoutField('How long an answer may take')),
  max_in_flight: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: IN_FLIGHT_MAX,
      default: IN_FLIGHT_MAX,
      description: `Requests under way at once, 1 to ${IN_FLIGHT_MAX}; ${IN_FLIGHT_MAX} when not sent.`,
    }),
  ),
};

const recordFields = {
  subscription_id: Type.String({ description: 'Id of the subscription, `sub_…`.' }),
  queue: Type.String({ description: 'Queue whose messages are pushed.' }),
  url: Type.String({ description: 'Where they are POSTed.' }),
  status: Type.Enum(['active'], {
    description: '`active`: messages are pushed, and tried again while the receiver fails.',
  }),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Headers added to each request, values masked.',
  }),
  visibility_timeout: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Length of the lease of a pushed message in seconds; null: that of the queue.',
  }),
  timeout_seconds: Type.Integer({ description: 'How long an answer may take, in seconds.' }),
  max_in_flight: Type.Integer({ description: 'Requests under way at once, at most.' }),
  secret_last4: Type.String({ description: 'Last four characters of the signing secret.' }),
  created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
};

export const subscriptionSchema = Type.Object(recordFields, {
  title: 'PushSubscription',
  description: 'A push subscription.',
});

export const newSubscriptionSchema = Type.Object(
  {
    ...recordFields,
    secret: Type.String({
      description: 'The signing secret, `whsec_…`. It is shown this once; store it where messages are received.',
    }),
  },
  { title: 'NewPushSubscription', description: 'A push subscription with its secret.' },
);
