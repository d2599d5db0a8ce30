// operator.outbox.list and operator.outbox.get: unsent mail.
import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, instant, limitField, pageOf, plainText } from '../../../kit/fields.ts';
import { findMail, listMails } from '../../../people/mail/mail.ts';
import { problem } from '../../../problems/problem.ts';

const mailSchema = Type.Object(
  {
    mail_id: Type.String({ description: 'Id of the mail, `mail_…`.' }),
    to: Type.String({ description: 'Where it goes.' }),
    subject: Type.String({ description: 'Its subject.' }),
    text: Type.String({ description: 'It as plain text. Links and codes in it sign people in.' }),
    html: Type.String({ description: 'It as HTML.' }),
    created_at: instant('When it was written.'),
  },
  { title: 'OutboxMail' },
);

export const outboxList = defineCapability()({
  method: 'GET',
  path: '/v1/operator/outbox/list',
  summary: 'Lists mail that is not sent.',
  description:
    'For the operator of the service only. Newest first: all mail of the last day where no mail server is set, else what waits to be ' +
    'sent or was refused; `search` finds a part of an address or a subject. Links and codes in it sign people in.',
  keywords: ['unsent mail', 'mail queue', 'smtp failures', 'search mail'],
  input: Type.Object({
    search: Type.Optional(plainText(254, 'A part of the address it goes to, or of its subject; A is a.')),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(mailSchema),
  examples: [
    { title: 'The newest', input: { limit: 100 } },
    { title: 'To one address', input: { search: 'ada@example.org' } },
  ],
  async run({ ctx, input: { search, cursor, limit } }) {
    const asked = search === undefined ? {} : { search };
    const data = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [search ?? ''],
        read: (beforeId, rows) =>
          listMails(ctx.core.db, { ...asked, ...(beforeId === null ? {} : { beforeId }), limit: rows }),
        positionOf: ({ mail_id: mailId }) => mailId,
      },
    );
    return { data };
  },
});

export const outboxGet = defineCapability()({
  method: 'GET',
  path: '/v1/operator/outbox/get/{mail_id}',
  summary: 'Shows a mail that is not sent.',
  description: 'For the operator of the service only. 404 once it is sent, or a day old.',
  keywords: ['read unsent mail', 'mail text'],
  input: Type.Object({
    mail_id: Type.String({ pattern: '^mail_[0-9A-Za-z]{1,60}$', description: 'Id of the mail, as the list has it.' }),
  }),
  output: mailSchema,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'The newest',
      before: [
        { capability: 'account.email.bind', input: { email: 'ada@example.com' } },
        { capability: 'operator.outbox.list', input: { limit: 1 } },
      ],
      input: { mail_id: '$1.items[0].mail_id' },
    },
  ],
  async run({ ctx, input }) {
    const mail = await findMail(ctx.core.db, input.mail_id);
    if (mail === null)
      throw problem('NOT_FOUND', { message: 'There is no such mail, or not any more.', param: 'mail_id' });
    return { data: mail };
  },
});
