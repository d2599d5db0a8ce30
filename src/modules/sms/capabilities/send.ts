import Type from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { SEGMENTS_MAX } from '../limits.ts';
import { composeSms } from '../messages/compose.ts';
import { smsRecord } from '../messages/row.ts';
import { sendMessage } from '../messages/send.ts';
import { numberField, senderField, smsSchema, textField, vendorField } from '../schemas.ts';
import type { SmsState } from '../state.ts';

export const carrierErrors = [
  ...['SMS_SEND_FAILED', 'RECIPIENT_SUPPRESSED', 'VENDOR_NOT_AVAILABLE', 'VENDOR_DOWN', 'VENDOR_TIMEOUT'],
  ...['RATE_LIMIT_VENDOR', 'VENDOR_AUTH_ERROR'],
];

export const send = defineCapability<SmsState>()({
  method: 'POST',
  path: '/v1/sms/send',
  summary: 'Sends a text message to a phone.',
  description:
    'Sends one SMS and answers once the carrier has it (`sent`), or refuses it: then nothing is charged. Whether it arrived is told later by ' +
    'sms.delivered and sms.failed. Charged by segment: 160 characters of the GSM alphabet, or 70 when one is outside of it (an emoji, a ' +
    'curly quote). Without carriers the sandbox takes it: nothing leaves, and numbers that end in 0000 fail. A number that has sent STOP ' +
    'gets nothing from that sender.',
  keywords: ['send sms', 'text message to a phone', 'twilio messages create', 'smpp submit', 'text a customer'],
  input: Type.Object({
    to: numberField('Phone number in E.164, such as +12025550123.'),
    text: textField(`The text, up to ${SEGMENTS_MAX} segments.`),
    from: Type.Optional(
      senderField(
        'Sender, one of those of the carrier: a number, a short code or a name. Its first one when not sent.',
      ),
    ),
    vendor: vendorField,
  }),
  output: smsSchema,
  price: 'sms.send',
  errors: carrierErrors,
  events: ['sms.queued', 'sms.sent', 'sms.failed', 'wallet.low_balance'],
  limits: {
    text: `${SEGMENTS_MAX} segments.`,
    rate: 'Messages a minute: standard 60, pro 600, enterprise 6,000; then 429.',
  },
  examples: [
    {
      title: 'A notice',
      input: { to: '+12025550123', text: 'Your table is ready.' },
      expect: { status: 'sent', segments: 1, captured: true },
    },
  ],
  async run({ ctx, input, state }) {
    // A replay comes before every other check.
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const composed = await composeSms(ctx, state.settings, input);
    return sendMessage(ctx, state, { composed, text: input.text, code: null, answer: (_, row) => smsRecord(row) });
  },
});
