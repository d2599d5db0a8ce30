import Type from 'typebox';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT, listPage, type Page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf, plainText } from '../../../kit/fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { emailRecord } from '../messages/record.ts';
import { type MessageRow, recipientStatuses } from '../messages/row.ts';
import { SUBJECT_CHARACTERS_MAX, searchMessages, soughtAddress } from '../messages/search.ts';
import { findMessages, listMessages, recipientsOf } from '../messages/store.ts';
import { emailSchema } from '../schemas.ts';
import { sentBefore } from './examples.ts';

export const list = defineCapability()({
  method: 'GET',
  path: '/v1/email/list',
  summary: 'Lists e-mails of the last 30 days.',
  description:
    'The newest first, page by page. A page of what is sought by recipient or subject looks at 1,000 mails at most: it may be short, or empty, ' +
    'while has_more is true.',
  keywords: ['sent mails', 'email log', 'outbox of my account', 'search email', 'mail to one person'],
  input: Type.Object({
    status: Type.Optional(
      Type.Enum([...recipientStatuses], { description: 'Only mails with this status; all when absent.' }),
    ),
    recipient: Type.Optional(
      soughtAddress('Only mails to this address (to, cc or bcc), in any case: `ada@example.org`.'),
    ),
    subject: Type.Optional(
      plainText(SUBJECT_CHARACTERS_MAX, 'Only mails whose subject holds each of these words, in any case.'),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(emailSchema),
  examples: [
    { title: 'Those that bounced', before: [sentBefore], input: { status: 'bounced', limit: 10 } },
    { title: 'To one person', before: [sentBefore], input: { recipient: 'nobody@example.org' }, expect: { items: [] } },
  ],
  async run({ ctx, input: { status = null, recipient = null, subject = null, cursor, limit = LIMIT_DEFAULT } }) {
    const { core, accountId } = ctx;
    if (recipient !== null || subject !== null) {
      const binding = [accountId, ctx.capability, status ?? '', recipient ?? '', subject ?? ''];
      const after = cursor === undefined ? null : String(decodeCursor(core.secrets, binding, cursor)[0]);
      const found = await searchMessages(core.db, accountId, { status, recipient, subject }, { after, limit });
      const next = found.nextAfter === null ? null : encodeCursor(core.secrets, binding, [found.nextAfter]);
      const rows = await findMessages(core.db, accountId, found.emailIds);
      const items = rows.toSorted((one, other) => (one.email_id < other.email_id ? 1 : -1));
      return { data: await withRecipients(ctx, { items, next_cursor: next, has_more: next !== null }) };
    }
    const page = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [status ?? ''],
        read: (after, rows) => listMessages(ctx.core.db, ctx.accountId, { after, limit: rows, filters: { status } }),
        positionOf: ({ email_id }) => email_id,
      },
    );
    return { data: await withRecipients(ctx, page) };
  },
});

async function withRecipients({ core, accountId }: CallContext, page: Page<MessageRow>) {
  const ids = page.items.map(({ email_id }) => email_id);
  const recipients = await recipientsOf(core.db, accountId, ids);
  return { ...page, items: page.items.map((row) => emailRecord(row, recipients.get(row.email_id) ?? [])) };
}
