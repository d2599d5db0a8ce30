import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { unpackContent } from '../messages/content.ts';
import { contentRecord, contentSchema } from '../messages/content-record.ts';
import { emailRecord } from '../messages/record.ts';
import { readSource } from '../messages/source.ts';
import { findMessage, recipientsOf } from '../messages/store.ts';
import { problem } from '../problems.ts';
import { emailIdField, emailSchema } from '../schemas.ts';
import { sentBefore } from './examples.ts';

export const get = defineCapability()({
  method: 'GET',
  path: '/v1/email/get/{email_id}',
  summary: 'Shows an e-mail and what became of it for each recipient.',
  description: 'With content=true also what it says; its source is in email.raw. Mails are kept for 30 days.',
  keywords: ['email status', 'was my mail delivered'],
  input: Type.Object({
    email_id: emailIdField,
    content: Type.Optional(
      Type.Boolean({ description: 'Whether to answer text, HTML and names of files too; false when absent.' }),
    ),
  }),
  output: Type.Object({ ...emailSchema.properties, content: contentSchema }),
  errors: ['NOT_FOUND', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  examples: [
    {
      title: 'One that was sent',
      before: [sentBefore],
      input: { email_id: '$0.email_id' },
      expect: { status: 'delivered', content: null },
    },
  ],
  async run({ ctx, input: { email_id: emailId, content: isWhole = false } }) {
    const { core, accountId } = ctx;
    const row = await findMessage(core.db, accountId, emailId);
    if (row === null)
      throw problem('NOT_FOUND', { param: 'email_id', message: 'There is no such mail, or not any more.' });
    const recipients = (await recipientsOf(core.db, accountId, [emailId])).get(emailId) ?? [];
    if (isWhole) ctx.holdMade(Number(row.source_bytes));
    const content = isWhole ? contentRecord(unpackContent(await readSource(core, row))) : null;
    return { data: { ...emailRecord(row, recipients), content } };
  },
});
