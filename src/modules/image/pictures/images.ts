// Transformation and inspection of images, run in other processes, in turns by account.
import { readFile } from 'node:fs/promises';
import type { CallContext, Services } from '../../../kit/services.ts';
import { AccountPictures } from '../../../pictures/account-pictures.ts';
import type { PictureFormat } from '../../../pictures/head.ts';
import { PictureProcesses } from '../../../pictures/processes.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { ImageBounds, ImageTask, MadeImage, Transform } from './task.ts';

const RETRY_AFTER_MS = 5_000;

export interface Image extends MadeImage {
  readonly bytes: Buffer;
}

/** Who asks, and until when. */
type Asker = Pick<CallContext, 'accountId' | 'signal'>;

export class Images {
  readonly #pictures: AccountPictures<ImageTask, MadeImage>;

  constructor(core: Pick<Services, 'assets' | 'decodes' | 'bounds' | 'rendering'>) {
    const source = new URL('./process.ts', import.meta.url);
    const processes = new PictureProcesses<ImageTask, ImageBounds, MadeImage>(
      source,
      core.bounds.call.image,
      core.decodes,
    );
    this.#pictures = new AccountPictures(core, 'image.pictures', processes);
  }

  /** Throws VALIDATION_FAILED for what is no image that may be used, CONCURRENCY_LIMITED and OVERLOADED. `param`: the field that brings it. */
  async transform(asker: Asker, bytes: Uint8Array, transform: Transform, param: string): Promise<Image> {
    return this.#makeImage(asker, bytes, { kind: 'transform', transform }, param, async (path, made) => {
      return { ...made, bytes: await readFile(path) };
    });
  }

  /** Throws as `transform` does. */
  async info(asker: Asker, bytes: Uint8Array, param: string): Promise<MadeImage> {
    return this.#makeImage(asker, bytes, { kind: 'info' }, param, async (_, made) => made);
  }

  async #makeImage<T>(
    { accountId, signal }: Asker,
    bytes: Uint8Array,
    task: ImageTask,
    param: string,
    use: (path: string, made: MadeImage) => Promise<T>,
  ): Promise<T> {
    const outcome = await this.#pictures.make(accountId, bytes, task, signal, use);
    if (outcome.kind === 'late') throw problem('OVERLOADED', { retryAfterMs: RETRY_AFTER_MS });
    if (outcome.kind === 'refused') throw invalidField(param, outcome.rule, outcome.message);
    return outcome.value;
  }
}

export const contentTypeOf = (format: PictureFormat) => `image/${format}`;
export const endingOf = (format: PictureFormat) => (format === 'jpeg' ? 'jpg' : format);
