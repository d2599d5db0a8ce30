// Endpoint of attachment links: the bytes, without a key.
import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import type { ReceivingState } from '../receiving/receiving.ts';
import { ATTACHMENTS_PATH } from './attachment-links.ts';
import { receivedSource } from './source.ts';

export const attachmentRoute: RawRoute<ReceivingState> = {
  name: 'email.attachment',
  methods: ['GET'],
  path: `${ATTACHMENTS_PATH}/{token}`,
  capability: null,
  bodyBytesMax: 1,
  answer,
};

async function answer({ params, sharer }: RawRequest, { receiving }: ReceivingState): Promise<RawAnswer> {
  const { core, links, reader } = receiving;
  const linked = links.read(params.token ?? '', await clockNow(core.db));
  const source = await receivedSource(core, linked.accountId, linked.inboundId);
  const bytes = source === null ? null : await reader.attachment(sharer, source, linked.number);
  if (bytes === null) throw problem('NOT_FOUND', { message: 'The mail was deleted, or is older than 30 days.' });
  return {
    status: 200,
    headers: {
      'content-type': linked.contentType,
      'content-disposition': disposition(linked.filename ?? 'attachment'),
      'cache-control': 'private, max-age=3600',
    },
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  };
}

/** RFC 6266, with the name for old clients beside it. */
function disposition(filename: string): string {
  const plain = filename.replaceAll(/[^A-Za-z0-9._ -]/g, '_');
  const encoded = encodeURIComponent(filename).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
