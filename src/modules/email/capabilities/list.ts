import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { emailRecord } from '../messages/record.ts';
import { recipientStatuses } from '../messages/row.ts';
import { listMessages, recipientsOf } from '../messages/store.ts';
import { emailSchema } from '../schemas.ts';
import { sentBefore } from './examples.ts';

export const list = defineCapability()({
  method: 'GET',
  path: '/v1/email/list',
  summary: 'Lists e-mails of the last 30 days.',
  description: 'The newest first, page by page.',
  keywords: ['sent mails', 'email log', 'outbox of my account'],
  input: Type.Object({
    status: Type.Optional(
      Type.Enum([...recipientStatuses], { description: 'Only mails with this status; all when absent.' }),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(emailSchema),
  examples: [{ title: 'Those that bounced', before: [sentBefore], input: { status: 'bounced', limit: 10 } }],
  async run({ ctx, input: { status = null, cursor, limit } }) {
    const page = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [status ?? ''],
        read: (after, rows) => listMessages(ctx.core.db, ctx.accountId, { after, limit: rows, filters: { status } }),
        positionOf: ({ email_id }) => email_id,
      },
    );
    const ids = page.items.map(({ email_id }) => email_id);
    const recipients = await recipientsOf(ctx.core.db, ctx.accountId, ids);
    return { data: { ...page, items: page.items.map((row) => emailRecord(row, recipients.get(row.email_id) ?? [])) } };
  },
});
