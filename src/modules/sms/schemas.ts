// Fields and records of the sms operations.
import Type from 'typebox';
import { expiresField, instant, instantOrNull, textOrNull } from '../../kit/fields.ts';
import { CODE_LENGTH, CODE_SECONDS, SEGMENTS_MAX, TEXT_CHARACTERS_MAX, TRIES } from './limits.ts';
import { E164_PATTERN, SENDER_PATTERN } from './numbers.ts';

const CONTENT = '^[^\\u0000\\p{Cs}]*$';

export const smsIdField = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Id of the message, `sms_…`, as send and list return it.',
});
export const verificationIdField = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Id of the verification, `ver_…`, as start returns it.',
});
export const numberField = (description: string) => Type.String({ maxLength: 16, pattern: E164_PATTERN, description });
export const senderField = (description: string) =>
  Type.String({ maxLength: 16, pattern: SENDER_PATTERN, description });
export const textField = (description: string) =>
  Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, pattern: CONTENT, description });
export const vendorField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 40,
    pattern: '^[a-z0-9-]+$',
    description: 'Pins one carrier: the id of its entry, as discovery names it. `sandbox` sends nothing.',
  }),
);

export const smsSchema = Type.Object(
  {
    sms_id: Type.String({ description: 'Id of the message.' }),
    direction: Type.Enum(['outbound', 'inbound'], { description: 'Whether the account sent or received it.' }),
    to: Type.String({ description: 'Number that gets it.' }),
    from: Type.String({ description: 'Number or name that it is from.' }),
    text: Type.String({ description: 'Its text. A code that verifies a number is masked, except in the sandbox.' }),
    encoding: Type.Enum(['gsm7', 'ucs2'], {
      description:
        '`ucs2` as soon as one character is not in the GSM alphabet: 70 instead of 160 characters a segment.',
    }),
    segments: Type.Integer({ description: `Segments that it is charged by, up to ${SEGMENTS_MAX}.` }),
    status: Type.Enum(['queued', 'sent', 'delivered', 'failed', 'received'], {
      description:
        '`sent`: the carrier has it. `delivered` and `failed` come by receipt; without one it stays `sent`. `received`: inbound.',
    }),
    error_code: textOrNull('Why it failed, as the carrier calls it.'),
    detail: textOrNull('What else is known: `outcome_unknown` when the answer of the carrier was lost, else null.'),
    vendor: Type.String({ description: 'Carrier that it was handed to, or came from.' }),
    captured: Type.Boolean({ description: 'True in the sandbox: it never left the service.' }),
    cost_usd: Type.Number({ description: 'What it cost, USD; 0 until it is handed over, and when it was refused.' }),
    created_at: instant('When it was accepted, or received.'),
    sent_at: instantOrNull('When it was handed over.'),
    ended_at: instantOrNull('When its receipt came, or when it was refused.'),
  },
  { title: 'Sms' },
);

export const verificationSchema = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification; keep it to check the code.' }),
    to: Type.String({ description: 'Number or address that the code was sent to.' }),
    channel: Type.Enum(['sms', 'email'], { description: 'How the code was sent.' }),
    status: Type.Enum(['pending', 'approved', 'expired', 'failed'], {
      description: `\`failed\` after ${TRIES} wrong codes; \`expired\` when its time is over.`,
    }),
    attempts_left: Type.Integer({ description: `Wrong codes that it still takes, of ${TRIES}.` }),
    message_id: textOrNull('The message that carried the code: an `sms_id` or an `email_id`.'),
    created_at: instant('When it was started.'),
    expires_at: instant('Until when the code is taken.'),
  },
  { title: 'Verification' },
);

export const codeFields = {
  length: Type.Optional(
    Type.Integer({
      minimum: CODE_LENGTH.min,
      maximum: CODE_LENGTH.max,
      default: CODE_LENGTH.usual,
      description: `Digits of the code, ${CODE_LENGTH.min} to ${CODE_LENGTH.max}; ${CODE_LENGTH.usual} when not sent.`,
    }),
  ),
  expires_seconds: expiresField(
    CODE_SECONDS,
    `Seconds that the code is taken, ${CODE_SECONDS.min} to ${CODE_SECONDS.max}; ${CODE_SECONDS.usual} when not sent.`,
  ),
};
