import Type from 'typebox';
import { answerResult } from '../../../files/result.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, textOrNull } from '../../../kit/fields.ts';
import { unpackContent } from '../messages/content.ts';
import { hasOwnCopies } from '../messages/row.ts';
import { readSource } from '../messages/source.ts';
import { findMessage } from '../messages/store.ts';
import { problem } from '../problems.ts';
import { emailIdField } from '../schemas.ts';
import type { EmailState } from '../state.ts';
import { sentBefore } from './examples.ts';

const INLINE_BYTES_MAX = 64 * 1024;

export const raw = defineCapability<EmailState>()({
  method: 'GET',
  path: '/v1/email/raw/{email_id}',
  summary: 'Shows the source of an e-mail.',
  description:
    'The source as it is handed to the relay, with its DKIM signature; of a mail with tracking or unsubscribe the copy of the first ' +
    'recipient. Sources above 64 KiB are answered by a link of an hour.',
  keywords: ['email source', 'eml file', 'dkim signature', 'mail headers'],
  input: Type.Object({ email_id: emailIdField }),
  output: Type.Object({
    email_id: Type.String({ description: 'Id of the mail.' }),
    content: textOrNull('The source (RFC 5322); null when it is long.'),
    url: textOrNull('Link to a long source, without a key; null when it stands in content.'),
    expires_at: instantOrNull('When the link ends.'),
    bytes: Type.Integer({ description: 'Length of the source.' }),
  }),
  errors: ['NOT_FOUND', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  examples: [{ title: 'As it left', before: [sentBefore], input: { email_id: '$0.email_id' }, expect: { url: null } }],
  async run({ ctx, input: { email_id: emailId }, state }) {
    const { core, accountId } = ctx;
    const row = await findMessage(core.db, accountId, emailId);
    if (row === null)
      throw problem('NOT_FOUND', { param: 'email_id', message: 'There is no such mail, or not any more.' });
    ctx.holdMade(Number(row.source_bytes));
    const packed = await readSource(core, row);
    const { selector, privateKey } = await state.keys.of(accountId);
    const links = hasOwnCopies(row) ? state.links.copyOf(row, 0, unpackContent(packed)) : null;
    const source = await state.composer.compose(accountId, packed, links, {
      domain: row.from_domain,
      selector,
      privateKey,
    });
    const short = {
      email_id: emailId,
      content: source.toString('utf8'),
      url: null,
      expires_at: null,
      bytes: source.length,
    };
    if (source.length <= INLINE_BYTES_MAX) return { data: short };
    const { url, expires_at } = await answerResult(ctx, source, {
      contentType: 'message/rfc822',
      filename: `${emailId}.eml`,
    });
    return { data: { ...short, content: null, url, expires_at } };
  },
});
