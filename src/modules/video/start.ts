// Startup of the video module in a process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import { vendorLoop } from '../../jobs/due/vendor.ts';
import { webhookLoopOf } from '../../jobs/due/webhooks.ts';
import { jobParts } from '../../jobs/parts.ts';
import type { Services } from '../../kit/services.ts';
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
  const { videos, decoder } = videosHere({
    ffmpegPath: settings.ffmpegPath,
    log: core.log,
    pictureBounds: core.bounds.call.picture,
    decodes: core.decodes,
  });
  const pictures = new AccountPictures(core, 'video.pictures', decoder);
  const own = {
    ...jobParts(core, videoKind, videoLinks, settings.pickupHours),
    videos,
    pictures,
    images: new ReferenceImages(core, pictures),
  };
  const state: VideoState = { ...own, vendorWork: videoWork(own) };
  return { ...state, loops: [vendorLoop(state), sandboxLoop(state, settings.sandboxThreads), webhookLoop(core)] };
}
