// A job as it is stored. What SQL never looks into stands as JSON: what is wanted, who may be asked for it, what was made, how it ended.
import type { ErrorObject } from '../../../problems/render.ts';
import type { FailoverReason } from '../../../vendors/call/port.ts';
import type { VideoResolution } from '../vendors/port.ts';

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobState = (typeof jobStates)[number];

export const operations = ['generate', 'extend', 'upscale'] as const;
export type Operation = (typeof operations)[number];

export const resolutions = ['720p', '1080p', '4k'] as const satisfies readonly VideoResolution[];
export const aspectRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const;
export type AspectRatio = (typeof aspectRatios)[number];

/** What a second costs and weighs at a resolution, as a multiple of 720p. */
export const resolutionMultiplier: Readonly<Record<VideoResolution, number>> = { '720p': 1, '1080p': 2, '4k': 4 };

export const isLive = (state: JobState) => state === 'queued' || state === 'running';

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

/** One vendor that may be asked, with its quote; frozen when the job is accepted. */
export interface Link {
  readonly vendor: string;
  readonly model: string;
  readonly region: 'china' | 'western';
  readonly markupPct: 0 | 0.05;
  /** Nano-USD, markup included. */
  readonly quoteNanos: number;
  /** What the vendor takes for it, nano-USD; of so many seconds, or of the clip. */
  readonly vendorNanos: number;
  readonly per: 'second' | 'clip';
  readonly priceVersion: string;
  /** How the model extends a video. */
  readonly extend: 'stitched' | 'continuation' | null;
}

/** What was made. */
export interface StoredVideo {
  readonly asset: string;
  readonly contentType: string;
  /** Strong, in its quotes. */
  readonly etag: string;
  readonly sizeBytes: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly durationSeconds: number;
  readonly thumbnail: { readonly asset: string; readonly sizeBytes: number; readonly etag: string } | null;
}

/** How the job ended when it did not succeed, and how a cancel stands. */
export interface Ended {
  readonly error: ErrorObject | null;
  readonly reason: 'deadline' | 'vendor_expired' | 'cancelled' | null;
  readonly cancel: {
    readonly vendorStopped: 'yes' | 'requested' | 'impossible';
    readonly mayBeCharged: boolean;
  } | null;
}

export interface JobRow {
  readonly account_id: string;
  readonly job_id: string;
  readonly operation: Operation;
  readonly parent_job_id: string | null;
  readonly key_id: string;
  readonly request_id: string;
  readonly trace_id: string;
  readonly entry_form: string;
  readonly state: JobState;
  readonly version: number;
  readonly vendor: string;
  /** `vendor/model`. */
  readonly model: string;
  /** JSON of Wanted. */
  readonly request: string;
  /** JSON of Link[]. */
  readonly chain: string;
  readonly position: number;
  /** Why the first of the chain was left; null: it was not. */
  readonly left_reason: FailoverReason | null;
  readonly store: boolean;
  readonly retention_days: number;
  readonly hold_id: string;
  readonly held_nanos: bigint;
  /** Part of held_nanos: the most that storage may cost. */
  readonly storage_nanos: bigint;
  readonly work: string;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly progress_pct: number | null;
  readonly current_step: string | null;
  readonly expected_ms: bigint | null;
  readonly created_at: number;
  readonly running_at: number | null;
  readonly deadline_at: number;
  readonly finished_at: number | null;
  /** JSON of Ended. */
  readonly ended: string | null;
  readonly cost_nanos: bigint | null;
  /** JSON of StoredVideo. */
  readonly video: string | null;
  readonly warnings: string[];
  readonly expires_at: number | null;
  readonly deleted: boolean;
  /** The process that took its latest step; null: none has yet. */
  readonly worker_id: string | null;
  /** Processes that died one after the other while they rendered it, or fetched its video. */
  readonly deaths: number;
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

export const chainOf = ({ chain }: Pick<JobRow, 'chain'>) => JSON.parse(chain) as readonly Link[];
export const storedVideoOf = ({ video }: Pick<JobRow, 'video'>) =>
  video === null ? null : (JSON.parse(video) as StoredVideo);
export const endedOf = ({ ended }: Pick<JobRow, 'ended'>) => (ended === null ? null : (JSON.parse(ended) as Ended));

/** Length of the video that is delivered: of a continuation what was added, of all else the whole. */
export function videoSecondsOf(job: Pick<JobRow, 'request' | 'chain' | 'position' | 'operation'>): number {
  const { seconds, videoSeconds } = wantedOf(job);
  return job.operation === 'extend' && chainOf(job)[job.position]?.extend === 'continuation' ? seconds : videoSeconds;
}
