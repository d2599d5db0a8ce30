// Links to objects that need no key: signed over what they name, and when they end. Those of a call (storage.object.get) name the very bytes that
// it was charged for; those of a share name its row.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Core } from '../../core/context.ts';
import { problem } from './problems.ts';

const MAC_BYTES = 24;
const PART = '[A-Za-z0-9_-]+';
const TOKEN = new RegExp(`^(${PART})\\.(${PART})$`);

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
  readonly #secret: Buffer;
  readonly #baseUrl: string;

  constructor({ secrets, baseUrl }: Pick<Core, 'secrets' | 'baseUrl'>) {
    this.#secret = secrets.derive('storage-links', 32);
    this.#baseUrl = baseUrl;
  }

  content(link: ContentLink): string {
    return `${this.#baseUrl}/v1/storage/content/${this.#token('content', [link.accountId, link.bucket, link.key, link.etag, link.endMs])}`;
  }

  share(link: ShareLink): string {
    return `${this.#baseUrl}/v1/storage/shared/${this.#token('share', [link.accountId, link.shareId])}`;
  }

  /** Throws LINK_EXPIRED for what is no link of ours. Whether its time is over is for the caller. */
  readContent(token: string): ContentLink {
    const [accountId, bucket, key, etag, endMs] = this.#read('content', token);
    return { accountId, bucket, key, etag, endMs: Number(endMs) } as ContentLink;
  }

  readShare(token: string): ShareLink {
    const [accountId, shareId] = this.#read('share', token);
    return { accountId, shareId } as ShareLink;
  }

  #token(kind: string, fields: readonly (string | number)[]): string {
    const body = Buffer.from(JSON.stringify(fields)).toString('base64url');
    return `${body}.${this.#mac(kind, body).toString('base64url')}`;
  }

  #read(kind: string, token: string): readonly (string | number)[] {
    const [, body, mac] = TOKEN.exec(token) ?? [];
    if (body === undefined || mac === undefined) throw problem('LINK_EXPIRED');
    const given = Buffer.from(mac, 'base64url');
    // Decoding skips what is no base64url: only the one spelling that we hand out is taken.
    const isSound = given.length === MAC_BYTES && given.toString('base64url') === mac;
    if (!isSound || !timingSafeEqual(given, this.#mac(kind, body))) throw problem('LINK_EXPIRED');
    return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  }

  #mac(kind: string, body: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${kind}\n${body}`).digest().subarray(0, MAC_BYTES);
  }
}
