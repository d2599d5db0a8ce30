// The stored request and result of a video job, as its row holds them.

import type { StoredFile } from '../../../jobs/content.ts';
import { chainOf, type JobRow, type Link } from '../../../jobs/row.ts';
import type { VideoResolution } from '../vendors/port.ts';

export const operations = ['generate', 'extend', 'upscale'] as const;
export type Operation = (typeof operations)[number];

export const resolutions = ['720p', '1080p', '4k'] as const satisfies readonly VideoResolution[];
export const aspectRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const;
export type AspectRatio = (typeof aspectRatios)[number];

/** What a second costs and weighs at a resolution, as a multiple of 720p. */
export const resolutionMultiplier: Readonly<Record<VideoResolution, number>> = { '720p': 1, '1080p': 2, '4k': 4 };

/** What is to be made. `prompt` and `negativePrompt` are emptied when the video goes. */
export interface Wanted {
  readonly prompt: string;
  readonly negativePrompt: string | null;
  /** Seconds to be made; of an extension, those that are added. */
  readonly seconds: number;
  /** Length of the video that is delivered. */
  readonly videoSeconds: number;
  readonly resolution: VideoResolution;
  readonly aspectRatio: AspectRatio;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly seed: number | null;
  /** The reference image: an asset, or a URL that is fetched when the work begins. */
  readonly image: { readonly asset: string; readonly contentType: string } | { readonly url: string } | null;
}

export interface VideoLink extends Link {
  /** How the model extends a video. */
  readonly extend: 'stitched' | 'continuation' | null;
}

/** What was made. */
export interface StoredVideo extends StoredFile {
  readonly contentType: string;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly durationSeconds: number;
  readonly thumbnail: StoredFile | null;
}

/** As it is stored: the length has another name there, which earlier releases gave it. */
interface StoredWanted extends Omit<Wanted, 'videoSeconds'> {
  readonly filmSeconds: number;
}

export function wantedOf({ request }: Pick<JobRow, 'request'>): Wanted {
  const { filmSeconds: videoSeconds, ...wanted } = JSON.parse(request) as StoredWanted;
  return { ...wanted, videoSeconds };
}

export function wantedText({ videoSeconds: filmSeconds, ...wanted }: Wanted): string {
  return JSON.stringify({ ...wanted, filmSeconds } satisfies StoredWanted);
}

export const operationOf = ({ operation }: Pick<JobRow, 'operation'>) => operation as Operation;
export const storedVideoOf = ({ made }: Pick<JobRow, 'made'>) =>
  made === null ? null : (JSON.parse(made) as StoredVideo);

/** The vendor that works on it, or is asked next. */
export const linkOf = (job: Pick<JobRow, 'chain' | 'position'>) => chainOf(job)[job.position] as VideoLink;

/** Length of the video that is delivered: of a continuation what was added, of all else the whole. */
export function videoSecondsOf(job: Pick<JobRow, 'request' | 'chain' | 'position' | 'operation'>): number {
  const { seconds, videoSeconds } = wantedOf(job);
  return job.operation === 'extend' && linkOf(job)?.extend === 'continuation' ? seconds : videoSeconds;
}
