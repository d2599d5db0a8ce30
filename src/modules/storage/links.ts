// Signed links to objects, usable without a key; the signature covers the target and the expiry. A link of storage.object.get names the exact
// bytes that the call was charged for; a share's link names its row.

import { SignedTokens, type TokenFields } from '../../core/secrets/signed-token.ts';
import type { Services } from '../../kit/services.ts';
import { problem } from './problems.ts';

export interface ContentLink {
  readonly accountId: string;
  readonly bucket: string;
  /** Base64url of its bytes. */
  readonly key: string;
  readonly etag: string;
  readonly endMs: number;
}

export interface ShareLink {
  readonly accountId: string;
  readonly shareId: string;
}

export class ObjectLinks {
  readonly #tokens: SignedTokens;
  readonly #baseUrl: string;

  constructor({ secrets, baseUrl }: Pick<Services, 'secrets' | 'baseUrl'>) {
    this.#tokens = new SignedTokens(secrets, 'storage-links');
    this.#baseUrl = baseUrl;
  }

  content({ accountId, bucket, key, etag, endMs }: ContentLink): string {
    return `${this.#baseUrl}/v1/storage/content/${this.#tokens.write('content', [accountId, bucket, key, etag, endMs])}`;
  }

  share({ accountId, shareId }: ShareLink): string {
    return `${this.#baseUrl}/v1/storage/shared/${this.#tokens.write('share', [accountId, shareId])}`;
  }

  /** Throws LINK_EXPIRED for what is no link of ours. Whether its time is over is for the caller. */
  readContent(token: string): ContentLink {
    const [accountId, bucket, key, etag, endMs] = this.#read('content', token);
    return { accountId, bucket, key, etag, endMs: Number(endMs) } as ContentLink;
  }

  /** Throws LINK_EXPIRED. */
  readShare(token: string): ShareLink {
    const [accountId, shareId] = this.#read('share', token);
    return { accountId, shareId } as ShareLink;
  }

  #read(kind: string, token: string): TokenFields {
    const fields = this.#tokens.read(kind, token);
    if (fields === null) throw problem('LINK_EXPIRED');
    return fields;
  }
}
