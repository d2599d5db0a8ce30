import Type, { type Static } from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { readInlineBytes } from '../../../lib/inline-bytes.ts';
import { invalidField } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { attachmentsField, emailSchema, mailFields, waitField } from '../schemas.ts';
import { replayOf, sendOne } from '../sending/order.ts';
import type { SentMail } from '../sending/read-mail.ts';
import type { EmailState } from '../state.ts';

const sendSchema = Type.Object({ ...mailFields, attachments: attachmentsField, wait: waitField });

type Input = Static<typeof sendSchema>;

export const send = defineCapability<EmailState>()({
  method: 'POST',
  path: '/v1/email/send',
  summary: 'Sends an e-mail.',
  description:
    'Waits until the relay has taken or refused it, and answers what became of it for each recipient; with wait: false it is sent in the ' +
    'background. The price is held for each recipient, and charged for those whose mail the relay took. Where no relay is configured the ' +
    'outbox keeps the mail and nothing leaves: email.get and email.raw show it. Recipients on the suppression list are left out.',
  keywords: ['send mail', 'smtp', 'transactional email', 'notify by mail', 'attachment'],
  input: sendSchema,
  output: emailSchema,
  price: 'email.send',
  chargedAtEnd: true,
  bodyBytesMax: BODY_BYTES_MAX,
  opaque: ['headers'],
  // Attachments may be long.
  bulk: { source: import.meta.url, reduce: decodeAttachments },
  errors: [
    ...['DOMAIN_NOT_VERIFIED', 'RECIPIENT_SUPPRESSED', 'VENDOR_NOT_AVAILABLE', 'EMAIL_SEND_FAILED', 'VENDOR_TIMEOUT'],
    ...['IDEMPOTENCY_INDETERMINATE', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  ],
  events: [
    'email.queued',
    'email.sent',
    'email.delivered',
    'email.deferred',
    'email.bounced',
    'email.auto_suppressed',
    'wallet.low_balance',
  ],
  limits: {
    recipients: '50 a mail; 600 a minute (standard tier), 6,000 (pro), 60,000 (enterprise).',
    size: '10 MiB as it goes out; text and HTML 1 MiB each.',
    retention: 'The content is kept for 30 days.',
  },
  examples: [
    {
      title: 'Text and HTML',
      input: {
        from: 'Billing <billing@example.com>',
        to: 'ada@example.org',
        subject: 'Your invoice of November',
        text: 'It is attached to your account.',
        html: '<p>It is attached to your <b>account</b>.</p>',
      },
      expect: { status: 'delivered', vendor: 'outbox', captured: true },
    },
    {
      title: 'With a file, in the background',
      input: {
        from: 'billing@example.com',
        to: ['ada@example.org'],
        subject: 'Report',
        text: 'See the file.',
        attachments: [{ filename: 'report.csv', content_base64: 'YSxiCjEsMgo=', content_type: 'text/csv' }],
        wait: false,
      },
      expect: { status: 'queued' },
    },
  ],
  async run({ ctx, input, state }) {
    const { wait = true, ...mail } = input as unknown as SentMail & { readonly wait?: boolean };
    const waits = wait && mail.send_at === undefined;
    const replay = await findReplay(ctx);
    if (replay !== null) return replayOf(ctx, replay, waits);
    return sendOne(ctx, state, mail, waits);
  },
});

/** With the bytes of attachments in place of their text. */
export function decodeAttachments<Sent extends Pick<Input, 'attachments'>>(input: Sent) {
  const transfer: ArrayBuffer[] = [];
  const attachments = (input.attachments ?? []).map(({ content_base64: base64, ...attachment }, i) => {
    const read = base64 === '' ? { bytes: new Uint8Array() } : readInlineBytes(base64);
    const param = `attachments[${i}].content_base64`;
    if (read === null) throw invalidField(param, 'base64', `${param} is not base64.`);
    transfer.push(read.bytes.buffer);
    return { ...attachment, content: read.bytes };
  });
  return { value: { ...input, attachments }, transfer };
}
