// Links to attachments of received mail: they need no key, and expire after an hour. The attachment is read from the mail when it is requested,
// so it is stored once.

import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { Services } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { LINK_MS } from './limits.ts';

export interface LinkedAttachment {
  readonly accountId: string;
  readonly inboundId: string;
  readonly number: number;
  readonly filename: string | null;
  readonly contentType: string;
}

export const ATTACHMENTS_PATH = '/v1/email/attachments';
const KIND = 'attachment';

export class AttachmentLinks {
  readonly #tokens: SignedTokens;
  readonly #baseUrl: string;

  constructor({ secrets, baseUrl }: Pick<Services, 'secrets' | 'baseUrl'>) {
    this.#tokens = new SignedTokens(secrets, 'email-attachments');
    this.#baseUrl = baseUrl;
  }

  link({ accountId, inboundId, number, filename, contentType }: LinkedAttachment, nowMs: number): string {
    const fields = [accountId, inboundId, number, filename, contentType, nowMs + LINK_MS];
    return `${this.#baseUrl}${ATTACHMENTS_PATH}/${this.#tokens.write(KIND, fields)}`;
  }

  /** Throws LINK_EXPIRED. */
  read(token: string, nowMs: number): LinkedAttachment {
    const fields = this.#tokens.read(KIND, token);
    if (fields === null || Number(fields[5]) <= nowMs) throw problem('LINK_EXPIRED');
    const [accountId, inboundId, number, filename, contentType] = fields;
    return { accountId, inboundId, number, filename, contentType } as LinkedAttachment;
  }
}
