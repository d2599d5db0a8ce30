import Type from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { BATCH_BODY_BYTES_MAX, BATCH_MAX } from '../limits.ts';
import { emailSchema, mailFields, waitField } from '../schemas.ts';
import { sendBatch } from '../sending/order-batch.ts';
import type { SentMail } from '../sending/read-mail.ts';
import type { EmailState } from '../state.ts';

export const batchSend = defineCapability<EmailState>()({
  method: 'POST',
  path: '/v1/email/batch/send',
  summary: 'Sends up to 100 e-mails at once.',
  description:
    'All of them are accepted, or none. They are sent in the background; the call waits for the first attempts, unless wait is false. The price ' +
    'is held for all recipients, and charged once the last mail of the batch has ended. Attachments go with email.send.',
  keywords: ['bulk mail', 'send many emails', 'newsletter batch'],
  input: Type.Object({
    items: alsoNamed(
      Type.Array(Type.Object(mailFields), { minItems: 1, maxItems: BATCH_MAX, description: 'The mails.' }),
      'emails',
    ),
    wait: waitField,
  }),
  output: Type.Object({
    items: Type.Array(emailSchema, { description: 'The mails, in the order in which they were sent.' }),
  }),
  price: 'email.send',
  chargedAtEnd: true,
  bodyBytesMax: BATCH_BODY_BYTES_MAX,
  opaque: ['headers'],
  bulk: { source: import.meta.url, reduce: (value) => ({ value, transfer: [] }) },
  errors: ['DOMAIN_NOT_VERIFIED', 'RECIPIENT_SUPPRESSED', 'VENDOR_NOT_AVAILABLE'],
  events: ['email.queued', 'wallet.low_balance'],
  limits: { batch: '100 mails, 1,000 recipients in all.' },
  examples: [
    {
      title: 'Two mails',
      input: {
        items: [
          { from: 'news@example.com', to: 'ada@example.org', subject: 'News', text: 'For Ada.' },
          { from: 'news@example.com', to: 'grace@example.org', subject: 'News', text: 'For Grace.' },
        ],
        wait: false,
      },
    },
  ],
  async run({ ctx, input: { items, wait = true }, state }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    return sendBatch(ctx, state, items as readonly SentMail[], wait);
  },
});
