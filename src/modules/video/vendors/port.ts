// The video vendor interface, one per wire protocol (vendors/call/job.ts), and the interfaces of local video and picture processing.
import type { DecodeBounds } from '../../../pictures/wire.ts';
import type { JobAdapter, JobProgress, ModelFault, VendorJob } from '../../../vendors/call/job.ts';

export type VideoOperation = 'generate' | 'extend' | 'upscale';
export type VideoResolution = '720p' | '1080p' | '4k';

/** One request, the same for every vendor; what the model cannot do has been refused or taken out before. */
export interface VideoWork {
  readonly operation: VideoOperation;
  /** The vendor's id of the model. */
  readonly model: string;
  /** The adapter's own fields of the model's row (`VideoAdapter.modelFields`). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  readonly negativePrompt: string | null;
  /** Of what is to be made: in an extension the seconds added. */
  readonly seconds: number;
  readonly resolution: VideoResolution;
  /** `16:9`. */
  readonly aspectRatio: string;
  readonly width: number;
  readonly height: number;
  readonly seed: number | null;
  readonly image: ReferenceImage | null;
  /** What is extended or upscaled. */
  readonly parent: ParentVideo | null;
  /** Random, of the attempt: the idempotency key where the vendor takes one. */
  readonly token: string;
  /** Where the vendor may say that something happened; null without a public BASE_URL. */
  readonly callbackUrl: string | null;
  readonly deadlineMinutes: number;
}

export interface ReferenceImage {
  readonly bytes: Uint8Array;
  readonly contentType: 'image/jpeg' | 'image/png' | 'image/webp';
  /** Where the vendor can fetch it from us; null without a public BASE_URL. */
  readonly url: string | null;
}

export interface ParentVideo {
  /** The same vendor's job that made it; null when another made it. */
  readonly job: VendorJob | null;
  /** Where the vendor can fetch it from us; null without a public BASE_URL. */
  readonly url: string | null;
  readonly seconds: number;
}

/** Where the vendor has what it made; it may stop to work within the hour. */
export interface VideoFiles {
  /** To be fetched by `download`. */
  readonly videoUrl: string;
  readonly thumbnailUrl: string | null;
}

export type VideoProgress = JobProgress<VideoFiles>;

/** What the sandbox videos in one go: an extension adds a scene to those of its parent. */
export interface Scene {
  readonly prompt: string;
  readonly seconds: number;
  /** Decides colours and motion; null: the prompt does. */
  readonly seed: number | null;
}

export interface SandboxRequest {
  readonly scenes: readonly Scene[];
  /** Both even. */
  readonly widthPx: number;
  readonly heightPx: number;
  /** What opens the video: JPEG, PNG or WebP. */
  readonly image: Uint8Array | null;
  /** Where video (MP4) and thumbnail (JPEG) are written; removed when it fails. */
  readonly videoPath: string;
  readonly thumbnailPath: string;
  readonly onProgress: (pct: number) => void;
  readonly signal: AbortSignal;
}

/** What pictures may take. */
export interface PictureBounds extends DecodeBounds {
  readonly bytesMax: number;
  readonly sidePxMin: number;
  readonly sidePxMax: number;
  readonly pixelsMax: number;
  /** Pixels x channels x bytes of each. */
  readonly decodedBytesMax: number;
  /** Of larger ones one is made at a time. */
  readonly smallPixelsMax: number;
  /** Of a JPEG. */
  readonly scansMax: number;
}

/** What is made of a picture; all are upright, of 8 bits a channel, and nothing but the picture. */
export type PictureTask =
  /** As it is, in its own format. */
  | { readonly kind: 'clean' }
  /** A JPEG with sides of at most `sidePx`. */
  | { readonly kind: 'thumbnail'; readonly sidePx: number }
  /** A PNG of this size, cut where its shape is another. */
  | { readonly kind: 'cover'; readonly widthPx: number; readonly heightPx: number };

/** What is told of a picture that was made. */
export interface MadePicture {
  readonly contentType: 'image/jpeg' | 'image/png' | 'image/webp';
}

/** What a file that came from a vendor is, once it has been looked through. */
export type CheckedVideo =
  | {
      readonly kind: 'sound';
      readonly contentType: 'video/mp4' | 'video/webm';
      readonly widthPx: number;
      readonly heightPx: number;
      readonly durationSeconds: number;
    }
  | { readonly kind: 'unsound'; readonly message: string };

/** Looks at videos. */
export interface VideoChecks {
  /**
   * Whether the file at `path` is a video: MP4 or WebM with frames. An index at its end is moved to the front. Throws when `signal` ends it.
   */
  check(accountId: string, path: string, signal: AbortSignal): Promise<CheckedVideo>;
  /** Writes one of its pictures to `to`, as JPEG; false: that cannot be done here. */
  frame(
    accountId: string,
    video: { readonly path: string; readonly contentType: 'video/mp4' | 'video/webm' },
    to: string,
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** Makes videos here. A video is a function of its scenes, its size and its image: making it again makes the same bytes. */
export interface VideoSandbox {
  /** Takes a thread for as long as it lasts: whoever calls bounds how many. Throws when `signal` ends it, or the thread fails. */
  render(request: SandboxRequest): Promise<void>;
}

/** A model's row, as far as adapters judge it. */
export interface VideoModelRow {
  readonly id: string;
  readonly imageToVideo: boolean;
  readonly seed: boolean;
  readonly negativePrompt: boolean;
  readonly extend: 'stitched' | 'continuation' | null;
  readonly upscale: boolean;
  readonly seconds: { readonly min: number; readonly max: number } | { readonly only: readonly number[] };
  readonly resolutions: readonly string[];
  readonly aspectRatios: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

export interface VideoAdapter extends JobAdapter<VideoWork, VideoFiles> {
  /** How it is told what to extend or upscale: as a job of its own, or by a public address of ours. */
  readonly extendsBy: 'job' | 'url';
  /** What the row says that this wire cannot do; `field` with dots and `[n]`, relative to the row. */
  check(model: VideoModelRow): readonly ModelFault[];
}
