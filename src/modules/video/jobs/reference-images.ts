// Reference images: JPEG, PNG or WebP by what they hold, with nothing in them but the picture. One that is sent with the call is judged there
// and kept; one that is named by a URL is judged when the work begins.
import type { CallContext } from '../../../core/context.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import type { AssetStore } from '../../../vendors/assets/port.ts';
import type { OutboundClient } from '../../../vendors/http/port.ts';
import { available } from './asset-store.ts';
import type { Wanted } from './row.ts';

const BYTES_MAX = 10 * 1024 * 1024;
const SIDE_PX_MIN = 64;
const SIDE_PX_MAX = 8_192;
const PIXELS_MAX = 40_000_000;
const REDIRECTS_MAX = 3;
const FETCH_MS = 10_000;

const types = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const;
type ImageType = (typeof types)[keyof typeof types];

export interface Image {
  readonly bytes: Buffer;
  readonly contentType: ImageType;
}

export class ReferenceImages {
  readonly #assets: AssetStore;
  readonly #outbound: OutboundClient;

  constructor(assets: AssetStore, outbound: OutboundClient) {
    this.#assets = assets;
    this.#outbound = outbound;
  }

  /** As the job keeps it. Throws VALIDATION_FAILED for what is no image that may be used, and for a URL that may not be asked. */
  async take(ctx: CallContext, jobId: string, sent: string): Promise<Wanted['image']> {
    if (/^https?:/i.test(sent)) {
      await this.#checkUrl(ctx, sent);
      return { url: sent };
    }
    const { bytes, contentType } = await cleanImage(decodeInline(sent));
    const asset = `${ctx.accountId}/${jobId}.reference`;
    await available(ctx.core.log, () => this.#assets.put(asset, bytes));
    return { asset, contentType };
  }

  /** What the work begins with; throws a Problem for a URL that does not lead to an image that may be used. */
  async open(image: NonNullable<Wanted['image']>, signal: AbortSignal): Promise<Image> {
    if ('url' in image) return cleanImage(await this.#fetch(image.url, signal));
    return { bytes: await this.#assets.read(image.asset), contentType: image.contentType as ImageType };
  }

  async #checkUrl(ctx: CallContext, url: string): Promise<void> {
    try {
      const warning = await this.#outbound.checkUrl(url, 'reference_image');
      if (warning !== null) ctx.warnings.push(warning);
    } catch (error) {
      throw error instanceof Problem ? invalidField('reference_image', 'url_refused', error.message) : error;
    }
  }

  async #fetch(url: string, signal: AbortSignal): Promise<Buffer> {
    const limits = { totalMs: FETCH_MS, firstByteMs: FETCH_MS, idleMs: FETCH_MS, answerBytesMax: BYTES_MAX };
    const reply = await this.#outbound.send({ url, method: 'GET', redirectsMax: REDIRECTS_MAX, limits, signal });
    if (reply.kind === 'failed') throw refused('url_failed', `The URL could not be fetched: ${reply.message}`);
    if (reply.status !== 200) {
      reply.body.destroy();
      throw refused('url_failed', `The URL was answered with ${reply.status}.`);
    }
    const pieces: Buffer[] = [];
    try {
      for await (const piece of reply.body) pieces.push(piece as Buffer);
    } catch {
      throw refused('url_failed', 'The URL broke off, or has more than 10 MiB.');
    }
    return Buffer.concat(pieces);
  }
}

/** The picture alone, upright, in its own format. Throws VALIDATION_FAILED. */
async function cleanImage(bytes: Buffer): Promise<Image> {
  if (bytes.length === 0) throw refused('not_an_image', 'The image is empty.');
  if (bytes.length > BYTES_MAX) throw refused('image_too_large', 'The image has more than 10 MiB.');
  // Loaded by the first image: it takes some 20 MB.
  const { default: sharp } = await import('sharp');
  // Its head is read whatever the picture's size is.
  const found = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => null);
  const contentType = types[found?.format as keyof typeof types];
  if (found === null || contentType === undefined) throw refused('not_an_image', 'It is no JPEG, PNG or WebP image.');
  if ((found.pages ?? 1) > 1) throw refused('image_animated', 'The image is animated.');
  const { width, height } = found;
  if (Math.min(width, height) < SIDE_PX_MIN || Math.max(width, height) > SIDE_PX_MAX || width * height > PIXELS_MAX)
    throw refused('image_size', 'An image has 64 to 8,192 pixels a side, and at most 40 million.');
  const clean = await sharp(bytes, { limitInputPixels: PIXELS_MAX, animated: false, failOn: 'error' })
    .rotate()
    .toBuffer()
    .catch(() => null);
  if (clean === null) throw refused('not_an_image', 'The image is damaged.');
  return { bytes: clean, contentType };
}

/** Looked for one at a time: a repetition over 14 MB takes more stack than there is, once V8 has given up optimizing expressions. */
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/;
const DATA_URL_HEAD = /^data:[a-z]+\/[a-z0-9.+-]{1,100};base64,/i;

/** The bytes of base64 or base64url, also as a data URL. Throws the Problem of what is neither. */
export function decodeInline(sent: string): Buffer {
  const [head = ''] = DATA_URL_HEAD.exec(sent) ?? [];
  const padding = sent.endsWith('==') ? 2 : Number(sent.endsWith('='));
  const text = sent.slice(head.length, sent.length - padding);
  if (text === '' || NOT_BASE64.test(text)) throw refused('not_an_image', 'It is no URL, no data URL and no base64.');
  return Buffer.from(text, 'base64');
}

function refused(rule: string, message: string): Problem {
  return invalidField('reference_image', rule, message);
}
