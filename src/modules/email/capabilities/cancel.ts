import Type from 'typebox';
import { runLongWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { emailRecord } from '../messages/record.ts';
import { problem } from '../problems.ts';
import { emailIdField, emailSchema } from '../schemas.ts';
import { lockHolds } from '../sending/outcome-store.ts';
import { writeOutcomes } from '../sending/outcomes.ts';

export const cancel = defineCapability()({
  method: 'POST',
  path: '/v1/email/cancel/{email_id}',
  summary: 'Cancels an e-mail that has not been sent.',
  description:
    'For mails that are queued or scheduled; what was held for them is given back. A repeat answers the same mail.',
  keywords: ['stop email', 'unschedule mail', 'recall before sending'],
  input: Type.Object({ email_id: emailIdField }),
  output: emailSchema,
  destructive: true,
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  events: ['email.cancelled'],
  examples: [
    {
      title: 'A scheduled one',
      before: [
        {
          capability: 'email.send',
          input: {
            from: 'news@example.com',
            to: 'ada@example.org',
            subject: 'Later',
            text: 'Hello.',
            send_at: '2030-12-24T18:00:00Z',
          },
        },
      ],
      input: { email_id: '$0.email_id' },
      expect: { status: 'cancelled' },
    },
  ],
  run: ({ ctx, input: { email_id: emailId } }) =>
    runLongWrite(ctx, async (tx) => {
      const { accountId, requestId } = ctx;
      const { rows, recipients } = await lockHolds(tx, accountId, [emailId]);
      const row = rows.find((one) => one.email_id === emailId);
      if (row === undefined)
        throw problem('NOT_FOUND', { param: 'email_id', message: 'There is no such mail, or not any more.' });
      const all = recipients.get(emailId) ?? [];
      if (row.status === 'cancelled') return emailRecord(row, all);
      const isSending = all.some(({ sending }) => sending);
      if (isSending || (row.status !== 'queued' && row.status !== 'scheduled')) {
        const message = isSending ? 'The mail is being handed over.' : `The mail is ${row.status} already.`;
        throw problem('STATE_CONFLICT', { param: 'email_id', detail: isSending ? 'sending' : row.status, message });
      }
      const results = all.map(({ number }) => ({ number, status: 'cancelled' as const, code: null, detail: null }));
      const [written] = await writeOutcomes(tx, accountId, [{ emailId, results, from: 'pending', requestId }]);
      if (written == null) throw new Error(`${emailId} was locked and is gone`);
      return emailRecord(written.row, written.recipients);
    }),
});
