// The port of image vendors: one adapter for each wire protocol (vendors/call/job.ts).
import type { JobAdapter, ModelFault } from '../../../vendors/call/job.ts';

/** One request, the same for every vendor; what the model cannot do has been refused or taken out before. */
export interface ImageWork {
  /** The vendor's id of the model. */
  readonly model: string;
  /** The adapter's own fields of the model's row (`ImageAdapter.modelFields`). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  /** `1024x1024`. */
  readonly size: string;
  readonly width: number;
  readonly height: number;
  readonly n: number;
  readonly seed: number | null;
  /** What is drawn upon, and where. */
  readonly image: WorkPicture | null;
  readonly mask: WorkPicture | null;
  /** Random, of the attempt: the idempotency key where the vendor takes one. */
  readonly token: string;
  /** Where the vendor may say that something happened; null without a public BASE_URL. */
  readonly callbackUrl: string | null;
  readonly deadlineMinutes: number;
  /** A place for images that come with the answer. */
  workPath(): Promise<string>;
}

export interface WorkPicture {
  readonly bytes: Uint8Array;
  readonly contentType: 'image/png';
}

/** Where the vendor has what it made; each to be fetched by `download`. */
export interface ImageFiles {
  readonly urls: readonly string[];
}

/** A model's row, as far as adapters judge it. */
export interface ImageModelRow {
  readonly id: string;
  readonly sizes: readonly string[];
  readonly imagesMax: number;
  readonly seed: boolean;
  readonly edit: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ImageAdapter extends JobAdapter<ImageWork, ImageFiles> {
  /** What the row says that this wire cannot do. */
  check(model: ImageModelRow): readonly ModelFault[];
}
