// Fields and records of webhook receivers.
import Type, { type Static } from 'typebox';
import { instant, instantOrNull, orNull, plainText, plainTextOrNull, textOrNull, whole } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { FILTER_EVENTS_MAX, NAME_CHARACTERS_MAX, SECRET_CHARACTERS_MAX } from './limits.ts';
import { encodings, schemes } from './schemes.ts';

const idField = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$', description });

export const receiverIdField = alsoNamed(idField('Id of the receiver, `whr_…`, as create and list return it.'), 'id');
export const requestIdField = idField('Id of the request, `whq_…`, as receive/requests returns it.');

const schemeText =
  'How senders prove themselves. `github`: X-Hub-Signature-256. `stripe`: Stripe-Signature. `slack`: X-Slack-Signature. `standard`: Standard ' +
  'Webhooks (Svix). `hmac`: HMAC-SHA256 of the body in `header`. `token`: the secret itself in `header`. `none`: the address is the only proof.';

const headerName = orNull<string>(
  { type: 'string', minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9-]+$' },
  'Of hmac and token: the header to look at. X-Signature, or Authorization with or without Bearer, when absent.',
);

export const verifyField = Type.Object(
  {
    scheme: Type.Enum([...schemes], { description: schemeText }),
    secret: Type.Optional(
      orNull<string>(
        {
          type: 'string',
          minLength: 8,
          maxLength: SECRET_CHARACTERS_MAX,
          pattern: '^[\\x21-\\x7e]*$',
          writeOnly: true,
        },
        'As the sender has it. Null, or absent on create: one is made and answered this once; stripe and slack make their own, which is required.',
      ),
    ),
    header: Type.Optional(headerName),
    encoding: Type.Optional(
      orNull<(typeof encodings)[number]>(
        { type: 'string', enum: [...encodings] },
        'Of hmac: how the signature is written; hex when absent. A prefix `sha256=` is left out.',
      ),
    ),
  },
  { description: 'How requests are verified.' },
);

export const toField = Type.Object(
  {
    queue: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 80,
        pattern: '^[a-z0-9._-]+$',
        description: 'Each request becomes a message of this queue, at the price of queue.publish.',
      }),
    ),
    channel: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 164,
        pattern: '^[A-Za-z0-9_=@,.;-]+$',
        description: 'Or is published to this channel, at the price of realtime.publish.',
      }),
    ),
  },
  { description: 'Either {queue} or {channel}.' },
);

export const filterField = orNull<{ readonly events?: readonly string[] | null; readonly json?: unknown }>(
  {
    type: 'object',
    additionalProperties: false,
    properties: {
      events: {
        type: ['array', 'null'],
        maxItems: FILTER_EVENTS_MAX,
        items: { type: 'string', minLength: 1, maxLength: 200 },
        description: 'Events that pass; `*` at the end stands for any rest.',
      },
      json: {
        description:
          'JsonLogic as flags have it, over {event, headers, body}: true passes. {"==": [{"var": "body.action"}, "opened"]}',
      },
    },
  },
  'Requests that become messages; others are answered 202 and listed as filtered. Null: all.',
);

export const nameField = plainText(NAME_CHARACTERS_MAX, 'For people; each message has it.');
export const descriptionField = plainTextOrNull(256, 'Note for people.');

export const receiverSchema = Type.Object({
  receiver_id: Type.String({ description: 'Id of the receiver.' }),
  url: textOrNull(
    'Where the other service sends. Who knows it may send: keep it as you keep a secret. Null: of scheme none, for who may not publish to its target.',
  ),
  name: Type.String({ description: 'Its name.' }),
  description: textOrNull('Note for people.'),
  verify: Type.Object(
    {
      scheme: Type.Enum([...schemes], { description: 'How requests are verified.' }),
      header: textOrNull('Header that hmac and token look at.'),
      encoding: textOrNull('How hmac reads the signature.'),
    },
    { description: 'How requests are verified, without the secret.' },
  ),
  to: Type.Object(
    { queue: textOrNull('Its queue.'), channel: textOrNull('Or its channel.') },
    { description: 'What requests become messages of.' },
  ),
  filter: orNull<object>({ type: 'object' }, 'Which requests become messages; null: all.'),
  state: Type.Enum(['active', 'failing', 'disabled'], {
    description:
      '`failing`: the last request could not be published, see last_error. `disabled`: requests are answered 503.',
  }),
  last_error: orNull<{ readonly code: string; readonly at: string }>(
    { type: 'object', properties: { code: { type: 'string' }, at: { type: 'string', format: 'date-time' } } },
    'Why the last request could not be published, and when; null: it was.',
  ),
  last_received_at: instantOrNull('When a verified request last arrived; null: none has yet.'),
  created_by: Type.String({ description: 'Id of the key or session that created it. It does not end with that.' }),
  created_at: instant('When it was created.'),
  updated_at: instant('When it was last changed.'),
});
export type ReceiverRecord = Static<typeof receiverSchema>;

export const receiverWithSecretSchema = Type.Object({
  ...receiverSchema.properties,
  url: Type.String({
    description: 'Where the other service sends. Who knows it may send: keep it as you keep a secret.',
  }),
  secret: textOrNull('The secret that was made, shown this once; null: none was.'),
});

export const outcomes = ['published', 'duplicate', 'filtered', 'challenge', 'refused'] as const;
export type RequestOutcome = (typeof outcomes)[number];

export const requestSchema = Type.Object({
  request_id: Type.String({ description: 'Id of the request.' }),
  receiver_id: Type.String({ description: 'Its receiver.' }),
  received_at: instant('When it arrived.'),
  outcome: Type.Enum([...outcomes], {
    description:
      '`duplicate`: published before under its delivery id. `challenge`: answered, and no message. `refused`: see code; the sender is told to come again.',
  }),
  status: Type.Integer({ description: 'HTTP status that the sender got.' }),
  code: textOrNull(
    'Of what was refused: error code. `filter_unsure`: the filter could not judge it, so it was published.',
  ),
  event: textOrNull('What the sender says it is about.'),
  delivery_id: textOrNull('The sender’s id of the delivery.'),
  bytes: whole('Of its body.'),
  message_id: textOrNull('The message that it became.'),
  message: orNull<object>({ type: 'object' }, 'Its content, as it was published; null: longer than 64 KiB.'),
});
