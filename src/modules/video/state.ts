// In-process state of the video module.

import type { JobHost } from '../../jobs/kind.ts';
import type { JobParts } from '../../jobs/parts.ts';
import type { AccountPictures } from '../../pictures/account-pictures.ts';
import type { ReferenceImages } from './jobs/reference-images.ts';
import type { MadePicture, PictureTask, VideoChecks, VideoSandbox } from './vendors/port.ts';

export interface VideoState extends JobHost, JobParts {
  /** Makes videos without a vendor, and looks at those of vendors. */
  readonly videos: VideoSandbox & VideoChecks;
  readonly pictures: AccountPictures<PictureTask, MadePicture>;
  readonly images: ReferenceImages;
}
