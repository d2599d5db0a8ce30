// Links to attachments of received mail: they need no key, and end after an hour. What is behind one is read from the mail when it is asked
// for, so an attachment is kept once.
import type { Core } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import type { ReceivingState } from '../receiving/receiving.ts';
import { LINK_MS } from './limits.ts';
import { receivedSource } from './source.ts';

export interface LinkedAttachment {
  readonly accountId: string;
  readonly inboundId: string;
  readonly number: number;
  readonly filename: string | null;
  readonly contentType: string;
}

const PATH = '/v1/email/attachments';
const KIND = 'attachment';

export class AttachmentLinks {
  readonly #tokens: SignedTokens;
  readonly #baseUrl: string;

  constructor({ secrets, baseUrl }: Pick<Core, 'secrets' | 'baseUrl'>) {
    this.#tokens = new SignedTokens(secrets, 'email-attachments');
    this.#baseUrl = baseUrl;
  }

  link({ accountId, inboundId, number, filename, contentType }: LinkedAttachment, nowMs: number): string {
    const fields = [accountId, inboundId, number, filename, contentType, nowMs + LINK_MS];
    return `${this.#baseUrl}${PATH}/${this.#tokens.write(KIND, fields)}`;
  }

  /** Throws LINK_EXPIRED. */
  read(token: string, nowMs: number): LinkedAttachment {
    const fields = this.#tokens.read(KIND, token);
    if (fields === null || Number(fields[5]) <= nowMs) throw problem('LINK_EXPIRED');
    const [accountId, inboundId, number, filename, contentType] = fields;
    return { accountId, inboundId, number, filename, contentType } as LinkedAttachment;
  }
}

export const attachmentRoute: RawRoute<ReceivingState> = {
  ...{ name: 'email.attachment', methods: ['GET'], path: `${PATH}/{token}`, capability: null, bodyBytesMax: 1 },
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
      // Whoever sent the mail chose what this is: it never runs as a page of this service.
      'content-security-policy': "sandbox; default-src 'none'",
      ...{ 'x-content-type-options': 'nosniff', 'cache-control': 'private, max-age=3600' },
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
