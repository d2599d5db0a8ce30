// Reference images: JPEG, PNG or WebP by content, stripped of everything but the pixels. An image sent with the call is checked there and
// stored; an image named by URL is checked when the work begins.

import { readFile } from 'node:fs/promises';
import { available } from '../../../assets/assets.ts';
import type { JobRow } from '../../../jobs/row.ts';
import type { CallContext, Services } from '../../../kit/services.ts';
import type { AccountPictures } from '../../../pictures/account-pictures.ts';
import { invalidField, Problem, problem } from '../../../problems/problem.ts';
import type { MadePicture, PictureTask } from '../vendors/port.ts';
import { refusedImage } from './inline-image.ts';
import type { Wanted } from './row.ts';

const REDIRECTS_MAX = 3;
const FETCH_MS = 10_000;

type ImageType = MadePicture['contentType'];
type JobPictures = AccountPictures<PictureTask, MadePicture>;

export interface Image {
  readonly bytes: Buffer;
  readonly contentType: ImageType;
}

/** As a call brings it: a URL, or the bytes. */
export type SentImage = string | Uint8Array;

type Of = Pick<JobRow, 'account_id'>;

export class ReferenceImages {
  readonly #core: Pick<Services, 'assets' | 'outbound' | 'bounds'>;
  readonly #pictures: JobPictures;

  constructor(core: Pick<Services, 'assets' | 'outbound' | 'bounds'>, pictures: JobPictures) {
    this.#core = core;
    this.#pictures = pictures;
  }

  /** A URL as the job keeps it. Throws VALIDATION_FAILED for one that may not be asked. */
  async takeUrl(ctx: CallContext, url: string): Promise<Wanted['image']> {
    try {
      const warning = await this.#core.outbound.checkUrl(url, 'reference_image', 'source');
      if (warning !== null) ctx.warnings.push(warning);
    } catch (error) {
      throw error instanceof Problem ? invalidField('reference_image', 'url_refused', error.message) : error;
    }
    return { url };
  }

  /**
   * Keeps what was sent, for the job. It takes seconds of a processor: whoever calls has asked whether it is paid for. Throws VALIDATION_FAILED
   * for what is no image that may be used, CONCURRENCY_LIMITED, OVERLOADED.
   */
  async takeBytes(ctx: CallContext, jobId: string, bytes: Uint8Array): Promise<Wanted['image']> {
    if (bytes.length === 0) throw refusedImage('not_an_image', 'The image is empty.');
    const { bytesMax } = this.#core.bounds.call.picture;
    if (bytes.length > bytesMax) throw refusedImage('image_too_large', 'The image has more than 10 MiB.');
    const { accountId, core, signal } = ctx;
    const asset = `${accountId}/${jobId}.reference`;
    const made = await this.#pictures.make(
      accountId,
      bytes,
      { kind: 'clean' },
      signal,
      async (path, { contentType }) => {
        await available(core.log, () => this.#core.assets.putFile(asset, path));
        return { asset, contentType };
      },
    );
    if (made.kind === 'late') throw problem('OVERLOADED', { retryAfterMs: 5_000 });
    if (made.kind === 'refused') throw refusedImage(made.rule, made.message);
    return made.value;
  }

  /** What a vendor is sent; throws a Problem for a URL that does not lead to an image that may be used. */
  async open(job: Of, image: NonNullable<Wanted['image']>, signal: AbortSignal): Promise<Image> {
    if ('url' in image) return this.#makeImage(job, await this.#fetch(image.url, signal), { kind: 'clean' }, signal);
    return { bytes: await this.#core.assets.read(image.asset), contentType: image.contentType as ImageType };
  }

  /** The image in the size of a video, as PNG; throws as `open` does. */
  async cover(job: Of, image: NonNullable<Wanted['image']>, size: Size, signal: AbortSignal): Promise<Buffer> {
    const bytes = 'url' in image ? await this.#fetch(image.url, signal) : await this.#core.assets.read(image.asset);
    return (await this.#makeImage(job, bytes, { kind: 'cover', ...size }, signal)).bytes;
  }

  /** In the background: what cannot be made now is tried again. */
  async #makeImage(
    { account_id: accountId }: Of,
    bytes: Buffer,
    task: PictureTask,
    signal: AbortSignal,
  ): Promise<Image> {
    const made = await this.#pictures.make(accountId, bytes, task, signal, async (path, { contentType }) => {
      return { bytes: await readFile(path), contentType };
    });
    if (made.kind === 'late') throw new Error('a reference image could not be decoded in time');
    if (made.kind === 'refused') throw refusedImage(made.rule, made.message);
    return made.value;
  }

  async #fetch(url: string, signal: AbortSignal): Promise<Buffer> {
    const { bytesMax: answerBytesMax } = this.#core.bounds.call.picture;
    const limits = { totalMs: FETCH_MS, firstByteMs: FETCH_MS, idleMs: FETCH_MS, answerBytesMax };
    const reply = await this.#core.outbound.send({
      url,
      method: 'GET',
      redirectsMax: REDIRECTS_MAX,
      limits,
      signal,
    });
    if (reply.kind === 'failed') throw refusedImage('url_failed', `The URL could not be fetched: ${reply.message}`);
    if (reply.status !== 200) {
      reply.body.destroy();
      throw refusedImage('url_failed', `The URL was answered with ${reply.status}.`);
    }
    const pieces: Buffer[] = [];
    try {
      for await (const piece of reply.body) pieces.push(piece as Buffer);
    } catch {
      throw refusedImage('url_failed', 'The URL broke off, or has more than 10 MiB.');
    }
    return Buffer.concat(pieces);
  }
}

interface Size {
  readonly widthPx: number;
  readonly heightPx: number;
}
