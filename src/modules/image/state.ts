// What the image module keeps in one process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import { BeforeDecoding } from '../../jobs/before-decoding.ts';
import { BeginJob } from '../../jobs/begin.ts';
import { WorkTimes } from '../../jobs/due/pace.ts';
import { vendorLoop } from '../../jobs/due/vendor.ts';
import { webhookLoopOf } from '../../jobs/due/webhooks.ts';
import type { JobHost } from '../../jobs/kind.ts';
import { PICKUP_HOURS } from '../../jobs/limits.ts';
import { JobLinks } from '../../jobs/links.ts';
import { progressReader } from '../../jobs/progress.ts';
import type { Services } from '../../kit/services.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { imageWork } from './due/image-work.ts';
import { sandboxLoop } from './due/sandbox.ts';
import { imageKind } from './jobs/kind.ts';
import { imageLinks } from './jobs/links.ts';
import type { Rendered } from './links/rendered.ts';
import { Images } from './pictures/images.ts';

export interface ImageState extends JobHost {
  readonly images: Images;
  readonly transforming: AnswerEffect;
  /** What links are rendering in this process, by account and rendering. */
  readonly rendering: Map<string, Promise<Rendered>>;
  readonly begin: BeginJob;
  readonly progress: ReturnType<typeof progressReader>;
  readonly beforeDecoding: BeforeDecoding;
}

export interface StartedImage extends ImageState {
  readonly loops: readonly JobLoop[];
}

const webhookLoop = webhookLoopOf(imageKind.tables.shape);

export function startImage(core: Services): StartedImage {
  const shown = {
    ...{ baseUrl: core.baseUrl, cnyPerUsd: core.cnyPerUsd },
    links: new JobLinks(imageLinks, core.secrets, core.baseUrl),
  };
  const own = {
    ...{ core, kind: imageKind, shown },
    images: new Images(core),
    transforming: new AnswerEffect('image.transform'),
    rendering: new Map<string, Promise<Rendered>>(),
    begin: new BeginJob(imageKind, shown),
    progress: progressReader(core.db.hot, imageKind.tables),
    times: new WorkTimes(),
    publicUrl: isLoopback(new URL(core.baseUrl).hostname) ? null : core.baseUrl,
    beforeDecoding: new BeforeDecoding(imageKind.tables),
    pickupMs: PICKUP_HOURS * HOUR_MS,
  };
  const state: ImageState = { ...own, vendorWork: imageWork(own) };
  return { ...state, loops: [vendorLoop(state), sandboxLoop(state), webhookLoop(core)] };
}
