// State of the image module in one process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import { vendorLoop } from '../../jobs/due/vendor.ts';
import { webhookLoopOf } from '../../jobs/due/webhooks.ts';
import type { JobHost } from '../../jobs/kind.ts';
import { PICKUP_HOURS } from '../../jobs/limits.ts';
import { type JobParts, jobParts } from '../../jobs/parts.ts';
import type { Services } from '../../kit/services.ts';
import { imageWork } from './due/image-work.ts';
import { sandboxLoop } from './due/sandbox.ts';
import { imageKind } from './jobs/kind.ts';
import { imageLinks } from './jobs/links.ts';
import type { Rendered } from './links/rendered.ts';
import { Images } from './pictures/images.ts';

export interface ImageState extends JobHost, JobParts {
  readonly images: Images;
  readonly transforming: AnswerEffect;
  /** What links are rendering in this process, by account and rendering. */
  readonly rendering: Map<string, Promise<Rendered>>;
}

export interface StartedImage extends ImageState {
  readonly loops: readonly JobLoop[];
}

const webhookLoop = webhookLoopOf(imageKind.tables.shape);

export function startImage(core: Services): StartedImage {
  const own = {
    ...jobParts(core, imageKind, imageLinks, PICKUP_HOURS),
    images: new Images(core),
    transforming: new AnswerEffect('image.transform'),
    rendering: new Map<string, Promise<Rendered>>(),
  };
  const state: ImageState = { ...own, vendorWork: imageWork(own) };
  return { ...state, loops: [vendorLoop(state), sandboxLoop(state), webhookLoop(core)] };
}
