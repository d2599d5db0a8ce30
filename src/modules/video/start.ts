// How the module starts in a process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import { BeforeDecoding } from '../../jobs/before-decoding.ts';
import { BeginJob } from '../../jobs/begin.ts';
import { WorkTimes } from '../../jobs/due/pace.ts';
import { vendorLoop } from '../../jobs/due/vendor.ts';
import { webhookLoopOf } from '../../jobs/due/webhooks.ts';
import { JobLinks } from '../../jobs/links.ts';
import { progressReader } from '../../jobs/progress.ts';
import type { Services } from '../../kit/services.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { AccountPictures } from '../../pictures/account-pictures.ts';
import { sandboxLoop } from './due/sandbox.ts';
import { videoWork } from './due/video-work.ts';
import { videoKind } from './jobs/kind.ts';
import { videoLinks } from './jobs/links.ts';
import { ReferenceImages } from './jobs/reference-images.ts';
import type { VideoSettings } from './settings.ts';
import type { VideoState } from './state.ts';
import { videosHere } from './vendors/here.ts';

export interface StartedVideo extends VideoState {
  readonly loops: readonly JobLoop[];
}

const webhookLoop = webhookLoopOf(videoKind.tables.shape);

export function startVideo(core: Services, settings: VideoSettings): StartedVideo {
  const shown = {
    ...{ baseUrl: core.baseUrl, cnyPerUsd: core.cnyPerUsd },
    links: new JobLinks(videoLinks, core.secrets, core.baseUrl),
  };
  const { videos, decoder } = videosHere({
    ...{ ffmpegPath: settings.ffmpegPath, log: core.log },
    ...{ pictureBounds: core.bounds.call.picture, decodes: core.decodes },
  });
  const pictures = new AccountPictures(core, decoder);
  const own = {
    ...{ core, kind: videoKind, videos, shown, pictures },
    begin: new BeginJob(videoKind, shown),
    progress: progressReader(core.db.hot, videoKind.tables),
    times: new WorkTimes(),
    publicUrl: isLoopback(new URL(core.baseUrl).hostname) ? null : core.baseUrl,
    images: new ReferenceImages(core, pictures),
    beforeDecoding: new BeforeDecoding(videoKind.tables),
    pickupMs: settings.pickupHours * HOUR_MS,
  };
  const state: VideoState = { ...own, vendorWork: videoWork(own) };
  return { ...state, loops: [vendorLoop(state), sandboxLoop(state, settings.sandboxThreads), webhookLoop(core)] };
}
