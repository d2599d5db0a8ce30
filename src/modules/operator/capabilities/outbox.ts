// operator.outbox.list and operator.outbox.get: mail that is not sent.
import Type from 'typebox';
import { findMail, listMails } from '../../../core/mail/mail.ts';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { cursorField, instant, limitField, pageOf } from '../../../manifest/fields.ts';
import { problem } from '../../../problems/problem.ts';

const mailSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the mail, `mail_…`.' }),
    to: Type.String({ description: 'Where it goes.' }),
    subject: Type.String({ description: 'Its subject.' }),
    text: Type.String({ description: 'It as plain text. Links and codes in it sign people in.' }),
    html: Type.String({ description: 'It as HTML.' }),
    created_at: instant('When it was written.'),
  },
  { title: 'OutboxMail' },
);

export const outboxList = defineCapability<null>()({
  id: 'operator.outbox.list',
  method: 'GET',
  path: '/v1/operator/outbox/list',
  summary: 'Lists mail that is not sent.',
  description:
    'For the operator of the service only. Newest first: all mail of the last day where no mail server is set, else what waits to be ' +
    'sent or was refused. Links and codes in it sign people in.',
  keywords: ['unsent mail', 'mail queue', 'smtp failures'],
  input: Type.Object({ cursor: cursorField, limit: limitField }),
  output: pageOf(mailSchema),
  price: 'free',
  scope: 'read',
  gates: ['operator'],
  idempotent: false,
  errors: [],
  events: [],
  examples: [{ title: 'The newest', input: { limit: 100 } }],
  async run({ ctx, input }) {
    const data = await listPage(ctx, input, {
      read: (before, limit) => listMails(ctx.core.db, before === null ? { limit } : { beforeId: before, limit }),
      positionOf: ({ id }) => id,
    });
    return { data };
  },
});

export const outboxGet = defineCapability<null>()({
  id: 'operator.outbox.get',
  method: 'GET',
  path: '/v1/operator/outbox/get/{mail_id}',
  summary: 'Shows a mail that is not sent.',
  description: 'For the operator of the service only. 404 once it is sent, or a day old.',
  keywords: ['read unsent mail', 'mail text'],
  input: Type.Object({
    mail_id: Type.String({ pattern: '^mail_[0-9A-Za-z]{1,60}$', description: 'Id of the mail, as the list has it.' }),
  }),
  output: mailSchema,
  price: 'free',
  scope: 'read',
  gates: ['operator'],
  idempotent: false,
  errors: ['NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'The newest',
      before: [
        { capability: 'account.email.bind', input: { email: 'ada@example.com' } },
        { capability: 'operator.outbox.list', input: { limit: 1 } },
      ],
      input: { mail_id: '$1.items[0].id' },
    },
  ],
  async run({ ctx, input }) {
    const mail = await findMail(ctx.core.db, input.mail_id);
    if (mail === null)
      throw problem('NOT_FOUND', { message: 'There is no such mail, or not any more.', param: 'mail_id' });
    return { data: mail };
  },
});
