// What the video module keeps in one process.
import type { Core } from '../../core/context.ts';
import type { AccountPictures } from '../../core/pictures/account-pictures.ts';
import type { WorkTimes } from './due/pace.ts';
import type { BeforeDecoding } from './jobs/before-decoding.ts';
import type { BeginJob } from './jobs/begin.ts';
import type { SignedLinks } from './jobs/links.ts';
import type { progressReader } from './jobs/progress.ts';
import type { Shown } from './jobs/record.ts';
import type { ReferenceImages } from './jobs/reference-images.ts';
import type { MadePicture, PictureTask, VideoChecks, VideoSandbox } from './vendors/port.ts';

export interface VideoState {
  readonly core: Core;
  /** Makes videos without a vendor, and looks at those of vendors. */
  readonly videos: VideoSandbox & VideoChecks;
  readonly begin: BeginJob;
  readonly progress: ReturnType<typeof progressReader>;
  /** How long models take, as this process has seen it. */
  readonly times: WorkTimes;
  /** Where vendors can reach this service; null: nowhere. */
  readonly publicUrl: string | null;
  readonly pictures: AccountPictures<PictureTask, MadePicture>;
  readonly images: ReferenceImages;
  readonly beforeDecoding: BeforeDecoding;
  readonly links: SignedLinks;
  readonly shown: Omit<Shown, 'nowMs'>;
  /** How long a video is kept that is not stored. */
  readonly pickupMs: number;
}
