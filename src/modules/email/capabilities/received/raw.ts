import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { problem } from '../../../../problems/problem.ts';
import { inboundIdField } from '../../inboxes/received.ts';
import { receivedSource } from '../../inboxes/source.ts';
import { receivedBefore } from './example.ts';

export const rawReceived = defineCapability()({
  method: 'GET',
  path: '/v1/email/received/raw/{inbound_id}',
  summary: 'Shows the source of a received mail.',
  description:
    'The whole mail as it arrived (RFC 5322), behind two header lines of this service that say when and how.',
  keywords: ['raw mime of a received email', 'download eml of incoming mail'],
  input: Type.Object({ inbound_id: inboundIdField }),
  output: Type.Object({
    inbound_id: Type.String({ description: 'As sent.' }),
    source: Type.String({ description: 'The bytes of the mail as base64.' }),
    bytes: Type.Integer({ minimum: 0, description: 'How many they are.' }),
  }),
  errors: ['NOT_FOUND'],
  limits: { source: '10 MiB.' },
  examples: [{ title: 'One', before: receivedBefore('raw@inbox.test'), input: { inbound_id: '$1.inbound_id' } }],
  async run({ ctx, input }) {
    ctx.requireAnswerRoom();
    const source = await receivedSource(ctx.core, ctx.accountId, input.inbound_id);
    if (source === null)
      throw problem('NOT_FOUND', { param: 'inbound_id', message: 'There is no such received mail.' });
    ctx.holdMade(source.length * 2);
    return { data: { inbound_id: input.inbound_id, source: source.toString('base64'), bytes: source.length } };
  },
});
