// What the video module keeps in one process.

import type { BeforeDecoding } from '../../jobs/before-decoding.ts';
import type { BeginJob } from '../../jobs/begin.ts';
import type { JobHost } from '../../jobs/kind.ts';
import type { progressReader } from '../../jobs/progress.ts';
import type { AccountPictures } from '../../pictures/account-pictures.ts';
import type { ReferenceImages } from './jobs/reference-images.ts';
import type { MadePicture, PictureTask, VideoChecks, VideoSandbox } from './vendors/port.ts';

export interface VideoState extends JobHost {
  /** Makes videos without a vendor, and looks at those of vendors. */
  readonly videos: VideoSandbox & VideoChecks;
  readonly begin: BeginJob;
  readonly progress: ReturnType<typeof progressReader>;
  readonly pictures: AccountPictures<PictureTask, MadePicture>;
  readonly images: ReferenceImages;
  readonly beforeDecoding: BeforeDecoding;
}
