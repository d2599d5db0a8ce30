import Type from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { inboxTable } from '../inboxes/inboxes.ts';
import { contentOf, inboundIdField, type ReceivedRow, requireReceived } from '../inboxes/received.ts';
import { BODY_BYTES_MAX, SEND_PRICE } from '../limits.ts';
import { problem } from '../problems.ts';
import { attachmentsField, bodyFields, emailSchema } from '../schemas.ts';
import { replayOf, sendOne } from '../sending/order.ts';
import type { SentMail } from '../sending/read-mail.ts';
import type { EmailState } from '../state.ts';
import { receivedBefore } from './received/example.ts';
import { decodeAttachments } from './send.ts';

const REFERENCES_MAX = 20;
const REFERENCES_CHARACTERS_MAX = 1_900;
const SUBJECT_CHARACTERS_MAX = 990;

export const reply = defineCapability<EmailState>()({
  method: 'POST',
  path: '/v1/email/reply',
  summary: 'Answers a received mail.',
  description:
    'Sends a mail from the address of the inbox to whoever the received mail says answers go to, in the same conversation: with In-Reply-To, References ' +
    'and `Re:`. It says that a program wrote it (Auto-Submitted), so that other programs do not answer. Price and rules are those of email.send.',
  keywords: ['answer an email', 'reply in thread', 'respond to incoming mail'],
  input: Type.Object({ inbound_id: inboundIdField, ...bodyFields, attachments: attachmentsField }),
  output: emailSchema,
  price: SEND_PRICE,
  chargedAtEnd: true,
  bodyBytesMax: BODY_BYTES_MAX,
  // Attachments may be long.
  bulk: { source: import.meta.url, reduce: decodeAttachments },
  errors: [
    ...['NOT_FOUND', 'DOMAIN_NOT_VERIFIED', 'RECIPIENT_SUPPRESSED', 'VENDOR_NOT_AVAILABLE'],
    ...['EMAIL_SEND_FAILED', 'VENDOR_TIMEOUT', 'IDEMPOTENCY_INDETERMINATE', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  ],
  events: [
    ...['email.queued', 'email.sent', 'email.delivered', 'email.deferred', 'email.bounced', 'email.auto_suppressed'],
    'wallet.low_balance',
  ],
  examples: [
    {
      title: 'One',
      before: receivedBefore('answers@inbox.test'),
      input: { inbound_id: '$1.inbound_id', text: 'Thank you.' },
      expect: { subject: 'Re: Your code', status: 'delivered' },
    },
  ],
  async run({ ctx, input, state }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replayOf(ctx, replay, true);
    const { inbound_id: inboundId, ...body } = input;
    const row = await requireReceived(ctx.core.db, ctx.accountId, inboundId);
    return sendOne(ctx, state, { ...(await headOf(ctx, row)), ...body } as unknown as SentMail, true);
  },
});

async function headOf(ctx: CallContext, row: ReceivedRow) {
  const { core, accountId } = ctx;
  const inbox = await inboxTable.find(core.db, { accountId }, row.inbox_id);
  if (inbox === null)
    throw problem('NOT_FOUND', { param: 'inbound_id', message: 'The inbox of this mail was deleted.' });
  const { replyTo, references } = contentOf(row);
  const to = replyTo ?? row.from_header;
  if (to === '') throw invalidField('inbound_id', 'no_sender', 'The mail does not say whom to answer.');
  return {
    from: inbox.address,
    to,
    subject: subjectOf(row.subject),
    headers: threadHeaders(row.message_id, references),
  };
}

function subjectOf(subject: string): string {
  return /^re:/i.test(subject) ? subject : `Re: ${subject}`.slice(0, SUBJECT_CHARACTERS_MAX);
}

/** RFC 5322 section 3.6.4: the conversation's first mail, and the last ones of it. */
function threadHeaders(messageId: string | null, references: readonly string[]): Record<string, string> {
  const headers = { 'Auto-Submitted': 'auto-replied' };
  if (messageId === null) return headers;
  const [first = messageId, ...others] = [...references, messageId];
  let ids: string[] = [first, ...others.slice(1 - REFERENCES_MAX)];
  while (ids.length > 2 && ids.join(' ').length > REFERENCES_CHARACTERS_MAX) ids = [ids[0] as string, ...ids.slice(2)];
  return { ...headers, 'In-Reply-To': messageId, References: ids.join(' ') };
}
