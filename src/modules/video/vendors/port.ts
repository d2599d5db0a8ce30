// A vendor of videos, as one wire protocol speaks it. An adapter keeps nothing about jobs: what polling needs stands in the attempt's
// row. It never retries and never throws for what a vendor does: every outcome is one of the kinds below.
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import type { DecodeBounds } from '../../../core/pictures/wire.ts';
import type { BreakerEffect, NotSent, OutcomeUnknown, Refused, VendorCall } from '../../../vendors/call/port.ts';

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

/** A job at the vendor: stored as it is in the attempt's row as soon as the vendor has accepted. */
export interface VendorJob {
  /** The vendor's id. */
  readonly reference: string;
  /** What else later calls need, such as URLs of the vendor's answer; at most 8 KiB as JSON. */
  readonly details: Readonly<Record<string, string>>;
}

export type VideoSubmission =
  | { readonly kind: 'accepted'; readonly job: VendorJob }
  | Refused
  | OutcomeUnknown
  | NotSent;

/** What the vendor bills: the seconds it reports, the whole quote, or nothing. */
export type VideoBill = 'nothing' | 'quote' | { readonly seconds: number };

export type VideoProgress =
  | {
      readonly kind: 'queued' | 'running';
      /** 0 to 100, where the vendor says it. */
      readonly progressPct: number | null;
      /** The vendor's word for what it does. */
      readonly step: string | null;
      /** For the operator's log: the answer says something that the adapter does not know. */
      readonly warning: string | null;
    }
  | {
      readonly kind: 'succeeded';
      /** To be fetched by `download`; it may stop to work within the hour. */
      readonly videoUrl: string;
      readonly thumbnailUrl: string | null;
      readonly bill: VideoBill;
    }
  | {
      readonly kind: 'failed';
      readonly code: 'CONTENT_REFUSED' | 'VENDOR_ERROR';
      readonly message: string;
      readonly vendorSaid: string | null;
      readonly bill: VideoBill;
    }
  | { readonly kind: 'cancelled'; readonly bill: VideoBill }
  /** The vendor gave up for reasons of time. */
  | { readonly kind: 'expired'; readonly bill: VideoBill }
  /** The vendor does not know the job (any more), or has thrown away what it made. */
  | { readonly kind: 'gone' }
  /** Nothing is known now. It never fails a job. */
  | { readonly kind: 'unanswered'; readonly breaker: BreakerEffect; readonly message: string };

export type VideoCancellation =
  /** It has stopped. */
  | { readonly kind: 'stopped'; readonly bill: VideoBill }
  /** It was told; polling shows what becomes of it. */
  | { readonly kind: 'requested' }
  /** It cannot stop, or it is too late; polling shows what becomes of it. */
  | { readonly kind: 'impossible' }
  | { readonly kind: 'unanswered'; readonly breaker: BreakerEffect; readonly message: string };

export type VideoDownload =
  | {
      readonly kind: 'opened';
      /** By the bytes, not by what the vendor says. */
      readonly contentType: 'video/mp4' | 'video/webm' | 'image/jpeg' | 'image/png' | 'image/webp';
      /** Null when the vendor does not say. */
      readonly sizeBytes: number | null;
      /** All bytes; to be read to its end, or destroyed. Fails when the vendor breaks off, dawdles or exceeds the limit. */
      readonly body: Readable;
    }
  /** `again`: later, or from a fresh URL (`gone`: surely from a fresh one). `unsound`: what is there is no video and never will be. */
  | { readonly kind: 'again' | 'gone' | 'unsound'; readonly message: string };

export interface VendorCallback {
  /** Of the attempt's work. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

export type VideoCallbackReading =
  /** `signed`: the vendor's signature fits; else only the token speaks for it. Wakes a poll, and is not believed beyond that. */
  | { readonly kind: 'taken'; readonly signed: boolean; readonly job: VendorJob | null }
  | { readonly kind: 'forged'; readonly message: string }
  /** Whether it is genuine cannot be told now. */
  | { readonly kind: 'unanswered'; readonly message: string };

export type VideoSearch =
  | { readonly kind: 'found'; readonly job: VendorJob }
  /** It was not seen among the latest, which proves nothing. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unanswered'; readonly message: string };

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

/** `[[fail:CODE]]`, `[[slow:SECONDS]]` and `[[hang]]` in a prompt. Whoever renders follows them: none takes a thread. */
export interface SandboxOrders {
  /** The video fails with this code. */
  readonly fail: string | null;
  /** It takes so much longer. */
  readonly slowSeconds: number;
  /** It never ends by itself. */
  readonly hang: boolean;
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
  check(path: string, signal: AbortSignal): Promise<CheckedVideo>;
  /** Writes one of its pictures to `to`, as JPEG; false: that cannot be done here. */
  frame(
    video: { readonly path: string; readonly contentType: 'video/mp4' | 'video/webm' },
    to: string,
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** Makes videos here. A video is a function of its scenes, its size and its image: making it again makes the same bytes. */
export interface VideoSandbox {
  ordersIn(scenes: readonly Scene[]): SandboxOrders;
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

export interface ModelFault {
  readonly field: string;
  readonly message: string;
}

export interface VideoAdapter {
  /** As in `adapter:` of the configuration. */
  readonly name: string;
  /** Where its vendor usually is; without one the configuration must say. */
  readonly baseUrl?: string;
  /** How it is told what to extend or upscale: as a job of its own, or by a public address of ours. */
  readonly extendsBy: 'job' | 'url';
  /** Fields of a model's row that only this adapter has, by their name in the file. */
  readonly modelFields: Readonly<Record<string, TSchema>>;
  /** What the row says that this wire cannot do; `field` with dots and `[n]`, relative to the row. */
  check(model: VideoModelRow): readonly ModelFault[];
  submit(call: VendorCall, work: VideoWork): Promise<VideoSubmission>;
  poll(call: VendorCall, job: VendorJob): Promise<VideoProgress>;
  cancel(call: VendorCall, job: VendorJob): Promise<VideoCancellation>;
  download(call: VendorCall, url: string): Promise<VideoDownload>;
  /** Looks for an attempt whose answer was lost, where the wire can; with its work's token and options. */
  find?(call: VendorCall, token: string, options: VideoWork['options']): Promise<VideoSearch>;
  /** Removes the vendor's copy, where the wire can; `true` when it is gone. */
  purge?(call: VendorCall, job: VendorJob): Promise<boolean>;
  /** Reads a call at our callback address, where the vendor makes them. The token in the address has been found before. */
  readCallback?(call: VendorCall, callback: VendorCallback): Promise<VideoCallbackReading>;
}
