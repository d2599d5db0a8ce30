// Fields and records of the operations that send mail.
import Type from 'typebox';
import { instant, instantOrNull, textOrNull } from '../../kit/fields.ts';
import { alsoNamed } from '../../kit/second-names.ts';
import {
  ATTACHMENTS_MAX,
  HEADER_CHARACTERS_MAX,
  HEADERS_MAX,
  RECIPIENTS_MAX,
  SEND_AHEAD_DAYS,
  SUBJECT_CHARACTERS_MAX,
  TAGS_MAX,
} from './limits.ts';
import { recipientStatuses } from './messages/row.ts';

const ADDRESS_CHARACTERS_MAX = 520;

export const emailIdField = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Id of the mail, `eml_…`, as send and list return it.',
});

const addressText = (description: string) =>
  Type.String({ minLength: 3, maxLength: ADDRESS_CHARACTERS_MAX, description });

const addresses = (description: string) =>
  Type.Unsafe<string | string[]>({
    type: ['string', 'array'],
    minLength: 3,
    maxLength: ADDRESS_CHARACTERS_MAX,
    minItems: 1,
    maxItems: RECIPIENTS_MAX,
    items: { type: 'string', minLength: 3, maxLength: ADDRESS_CHARACTERS_MAX },
    description,
  });

export const bodyFields = {
  html: Type.Optional(Type.String({ description: 'The mail as HTML, up to 1 MiB. This, or text, or both.' })),
  text: Type.Optional(Type.String({ description: 'The mail as plain text, up to 1 MiB.' })),
};

export const attachmentsField = Type.Optional(
  Type.Array(
    Type.Object({
      filename: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the file.' }),
      content_base64: alsoNamed(Type.String({ description: 'Its bytes as base64.' }), 'content'),
      content_type: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Media type, such as `application/pdf`; application/octet-stream when absent.',
        }),
      ),
      content_id: Type.Optional(
        Type.String({ maxLength: 200, description: 'The HTML shows it by `cid:` and this id; absent: it is a file.' }),
      ),
    }),
    { maxItems: ATTACHMENTS_MAX, description: 'Files that go with it.' },
  ),
);

/** Of a mail in a batch, and of email.send beside its attachments. */
export const mailFields = {
  from: addressText('Sender: `ada@example.org` or `Ada <ada@example.org>`. Its domain must be verified.'),
  to: addresses(`Recipients: one address, or a list. At most ${RECIPIENTS_MAX} with cc and bcc.`),
  cc: Type.Optional(addresses('Recipients of a copy, whom all see.')),
  bcc: Type.Optional(addresses('Recipients of a copy, whom nobody sees.')),
  reply_to: Type.Optional(addresses('Where answers go.')),
  subject: Type.String({ maxLength: SUBJECT_CHARACTERS_MAX, description: 'Subject, on one line.' }),
  ...bodyFields,
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: HEADERS_MAX,
      additionalProperties: { type: 'string', maxLength: HEADER_CHARACTERS_MAX },
      description:
        'Further headers, name to value, each on one line. Those that the service writes itself are refused.',
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.:-]+$' }), {
      maxItems: TAGS_MAX,
      description: 'Words of yours, shown with the mail and its events; not sent.',
    }),
  ),
  unsubscribe: Type.Optional(
    Type.Boolean({
      description:
        'Adds a link to unsubscribe with one click (RFC 8058). Each recipient then gets a mail of their own.',
    }),
  ),
  track_opens: Type.Optional(
    Type.Boolean({ description: 'Adds a pixel to the HTML that tells email.opened. False when absent.' }),
  ),
  track_clicks: Type.Optional(
    Type.Boolean({
      description: 'Leads links of the HTML through this service, which tells email.clicked. False when absent.',
    }),
  ),
  send_at: Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: 40,
      description: `When to send it, up to ${SEND_AHEAD_DAYS / 365} years ahead; now when absent. The call then does not wait, and the price is held until then.`,
    }),
  ),
  vendor: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9-]{2,40}$',
      description: 'The relay to send by, and no other; `outbox`: keep it, send nothing.',
    }),
  ),
};

export const waitField = Type.Optional(
  Type.Boolean({ description: 'Whether to wait until the relay has taken or refused it; true when absent.' }),
);

export const recipientSchema = Type.Object({
  address: Type.String({ description: 'Address.' }),
  kind: Type.Enum(['to', 'cc', 'bcc'], { description: 'Which field named it.' }),
  status: Type.Enum([...recipientStatuses], { description: 'What became of the mail for this recipient.' }),
  code: textOrNull('Status code of the reply or report, such as 5.1.1 or 451; null when none came.'),
  detail: textOrNull('Words of the reply or report, or why nothing was sent.'),
  changed_at: instant('When the status last changed.'),
});

export const emailSchema = Type.Object(
  {
    email_id: Type.String({ description: 'Id of the mail.' }),
    from: Type.String({ description: 'Sender, as its header shows it.' }),
    to: Type.Array(Type.String(), { description: 'Recipients of the header To.' }),
    subject: Type.String({ description: 'Subject.' }),
    status: Type.Enum([...recipientStatuses], {
      description:
        'That of the least advanced recipient. `sent`: the relay took it. `delivered`: it arrived, or the outbox keeps it. ' +
        '`indeterminate`: it was handed over and the answer is not known; it is never sent again by itself.',
    }),
    recipients: Type.Array(recipientSchema, { description: 'All recipients, each with what became of the mail.' }),
    vendor: Type.String({ description: 'The relay; `outbox`: nothing left.' }),
    captured: Type.Boolean({ description: 'True when the outbox kept it and nothing left.' }),
    message_id: Type.String({ description: 'Its header Message-ID.' }),
    tags: Type.Array(Type.String(), { description: 'Words of yours.' }),
    send_at: instant('When it was, or is, to be sent.'),
    created_at: instant('When it was accepted.'),
    sent_at: instantOrNull('When the first recipient was taken; null before.'),
  },
  { title: 'Email' },
);
