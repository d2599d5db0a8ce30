import Type from 'typebox';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf, plainText } from '../../../../kit/fields.ts';
import {
  findReceived,
  RECEIVED_LOOKED_AT_MAX,
  receivedSummary,
  receivedSummarySchema,
} from '../../inboxes/received-list.ts';
import { SUBJECT_CHARACTERS_MAX, soughtAddress } from '../../messages/search.ts';
import { receivedBefore } from './example.ts';

export const listReceivedMail = defineCapability()({
  method: 'GET',
  path: '/v1/email/received/list',
  summary: 'Lists received mail of all inboxes.',
  description:
    `The newest first, page by page, without texts: email.received has those. A page looks at ${RECEIVED_LOOKED_AT_MAX.toLocaleString('en-US')} mails ` +
    'at most: it may be short, or empty, while has_more is true. To wait for mail of one inbox, use email.inbox.messages.',
  keywords: ['search received mail', 'incoming mail of all inboxes', 'mail from one sender', 'find a received email'],
  input: Type.Object({
    sender: Type.Optional(
      soughtAddress('Only mail from this address, in any case: `ada@example.org`. Anyone can write it: see `auth`.'),
    ),
    subject: Type.Optional(
      plainText(SUBJECT_CHARACTERS_MAX, 'Only mail whose subject holds each of these words, in any case.'),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(receivedSummarySchema),
  errors: ['INVALID_CURSOR'],
  limits: { retention: 'Mail is kept for 30 days.' },
  examples: [
    {
      title: 'From one sender',
      before: receivedBefore('list@inbox.test'),
      input: { sender: 'shop@sender.test', subject: 'code', limit: 5 },
    },
    { title: 'From nobody', input: { sender: 'nobody@example.org' }, expect: { items: [], has_more: false } },
  ],
  async run({ ctx, input: { sender = null, subject = null, cursor, limit = LIMIT_DEFAULT } }) {
    const { core, accountId } = ctx;
    const binding = [accountId, ctx.capability, sender ?? '', subject ?? ''];
    const after = cursor === undefined ? null : String(decodeCursor(core.secrets, binding, cursor)[0]);
    const { rows, nextAfter } = await findReceived(core.db, accountId, { sender, subject }, { after, limit });
    const next = nextAfter === null ? null : encodeCursor(core.secrets, binding, [nextAfter]);
    return { data: { items: rows.map(receivedSummary), next_cursor: next, has_more: next !== null } };
  },
});
