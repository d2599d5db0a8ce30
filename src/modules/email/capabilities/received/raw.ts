import { isUtf8 } from 'node:buffer';
import Type from 'typebox';
import { answerResult } from '../../../../files/result.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instantOrNull, textOrNull } from '../../../../kit/fields.ts';
import { problem } from '../../../../problems/problem.ts';
import { inboundIdField } from '../../inboxes/received.ts';
import { receivedSource } from '../../inboxes/source.ts';
import { receivedBefore } from './example.ts';

const INLINE_BYTES_MAX = 64 * 1024;

export const rawReceived = defineCapability()({
  method: 'GET',
  path: '/v1/email/received/raw/{inbound_id}',
  summary: 'Shows the source of a received mail.',
  description:
    'The whole mail as it arrived (RFC 5322), behind header lines of this service that say when and how. A source above 64 KiB, or in another ' +
    'encoding than UTF-8, is answered by a link of an hour.',
  keywords: ['raw mime of a received email', 'download eml of incoming mail'],
  input: Type.Object({ inbound_id: inboundIdField }),
  output: Type.Object({
    inbound_id: Type.String({ description: 'As sent.' }),
    content: textOrNull('The source; null where a link stands for it.'),
    url: textOrNull('Link to the source, without a key; null when it stands in content.'),
    expires_at: instantOrNull('When the link ends.'),
    bytes: Type.Integer({ minimum: 0, description: 'Length of the source.' }),
  }),
  errors: ['NOT_FOUND', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  limits: { source: '10 MiB.' },
  examples: [
    {
      title: 'One',
      before: receivedBefore('raw@inbox.test'),
      input: { inbound_id: '$1.inbound_id' },
      expect: { url: null },
    },
  ],
  async run({ ctx, input: { inbound_id: inboundId } }) {
    ctx.requireAnswerRoom();
    const source = await receivedSource(ctx.core, ctx.accountId, inboundId);
    if (source === null)
      throw problem('NOT_FOUND', {
        param: 'inbound_id',
        message: 'There is no such received mail. Mail is kept for 30 days.',
      });
    ctx.holdMade(source.length);
    const about = { inbound_id: inboundId, bytes: source.length };
    if (source.length <= INLINE_BYTES_MAX && isUtf8(source))
      return { data: { ...about, content: source.toString('utf8'), url: null, expires_at: null } };
    const made = { contentType: 'message/rfc822', filename: `${inboundId}.eml` };
    const { url, expires_at } = await answerResult(ctx, source, made);
    return { data: { ...about, content: null, url, expires_at } };
  },
});
