// How the module starts in a process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Core } from '../../core/context.ts';
import { AccountPictures } from '../../core/pictures/account-pictures.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { WorkTimes } from './due/pace.ts';
import { sandboxLoop } from './due/sandbox.ts';
import { vendorLoop } from './due/vendor.ts';
import { webhookLoop } from './due/webhooks.ts';
import { BeforeDecoding } from './jobs/before-decoding.ts';
import { BeginJob } from './jobs/begin.ts';
import { SignedLinks } from './jobs/links.ts';
import { progressReader } from './jobs/progress.ts';
import { ReferenceImages } from './jobs/reference-images.ts';
import type { VideoSettings } from './settings.ts';
import type { VideoState } from './state.ts';
import { videosHere } from './vendors/here.ts';

export interface StartedVideo extends VideoState {
  readonly loops: readonly JobLoop[];
}

export function startVideo(core: Core, settings: VideoSettings): StartedVideo {
  const links = new SignedLinks(core.secrets, core.baseUrl);
  const shown = { baseUrl: core.baseUrl, links, cnyPerUsd: core.cnyPerUsd };
  const { videos, decoder } = videosHere({
    ...{
      ffmpegPath: settings.ffmpegPath,
      log: core.log,
      pictureBounds: core.bounds.call.picture,
      decodes: core.decodes,
    },
  });
  const pictures = new AccountPictures(core, decoder);
  const state = {
    core,
    videos,
    begin: new BeginJob(shown),
    progress: progressReader(core.db.hot),
    times: new WorkTimes(),
    publicUrl: isLoopback(new URL(core.baseUrl).hostname) ? null : core.baseUrl,
    pictures,
    images: new ReferenceImages(core, pictures),
    beforeDecoding: new BeforeDecoding(),
    links,
    shown,
    pickupMs: settings.pickupHours * HOUR_MS,
  };
  return { ...state, loops: [vendorLoop(state), sandboxLoop(state, settings.sandboxThreads), webhookLoop(core)] };
}
