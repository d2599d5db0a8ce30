// What a request comes to: which vendors may be asked and what they quote, what the hold must cover, and what the model does not take.

import { storagePrice } from '../../../jobs/price.ts';
import { linkFrom } from '../../../jobs/start.ts';
import type { Candidate } from '../../../routing/choose.ts';
import type { Vendors } from '../../../routing/vendors.ts';
import { type ModelRow, SANDBOX } from '../../../vendors/file/port.ts';
import { quoteVideo, vendorPrice, videoModel } from '../models/family.ts';
import { cannotServe, type ExtendsBy, type Reason, unableReasons, type VideoWish } from '../models/wish.ts';
import type { VideoAdapter, VideoOperation } from '../vendors/port.ts';
import { assumedBytes } from './price.ts';
import type { VideoLink } from './row.ts';

export interface PlanRequest extends VideoWish {
  readonly model: string | null;
  readonly vendor: string | null;
  readonly crossRegion: boolean;
  readonly hasSeed: boolean;
  readonly hasNegativePrompt: boolean;
  /** Length of the video that is delivered. */
  readonly videoSeconds: number;
  readonly store: boolean;
  readonly retentionDays: number;
}

export interface Plan {
  readonly chain: readonly [Candidate, ...Candidate[]];
  /** The most that the job may cost, storage included; nano-USD. */
  readonly heldNanos: bigint;
  readonly storageNanos: bigint;
  readonly deadlineMs: number;
  readonly warnings: readonly string[];
  readonly isSandbox: boolean;
}

/** Throws what no model can do, and what names no model. `storageNanosPerGibDay`: of the price book. */
export function planJob(vendors: Vendors, request: PlanRequest, storageNanosPerGibDay: bigint): Plan {
  const choice = vendors.choose<readonly Reason[]>({
    capability: `video.${request.operation satisfies VideoOperation}`,
    model: request.model,
    vendor: request.vendor,
    crossRegion: request.crossRegion,
    unable: (row) => unableReasons(row, request, extendsBy(vendors, row)),
    quote: (row) => quoteVideo(row, request.seconds, request.resolution),
  });
  if (choice.kind === 'unable') throw cannotServe(choice.models, request);
  const { chain } = choice;
  const storageNanos = storageHeld(request, storageNanosPerGibDay);
  const highest = chain.reduce((most, { quoteNanos }) => (quoteNanos > most ? quoteNanos : most), 0n);
  const models = chain.map(({ row }) => videoModel(row));
  return {
    chain,
    heldNanos: highest + storageNanos,
    storageNanos,
    deadlineMs: Math.max(...models.map(({ deadlineMinutes }) => deadlineMinutes)) * 60_000,
    warnings: warningsOf(chain, request),
    isSandbox: chain[0].vendor === SANDBOX,
  };
}

/** The sandbox videos the scenes of its own jobs. */
function extendsBy(vendors: Vendors, { vendor }: ModelRow): ExtendsBy {
  return vendor.id === SANDBOX ? 'job' : vendors.adapter<VideoAdapter>('video', vendor.adapter).extendsBy;
}

function storageHeld({ store, videoSeconds, resolution, retentionDays }: PlanRequest, nanosPerUnit: bigint): bigint {
  return store ? storagePrice(assumedBytes(videoSeconds, resolution), retentionDays, nanosPerUnit).nanos : 0n;
}

function warningsOf(chain: readonly Candidate[], { hasSeed, hasNegativePrompt }: PlanRequest): string[] {
  const models = chain.map(({ row }) => videoModel(row));
  const without = (what: string, isMissing: boolean) =>
    isMissing
      ? [`${what}: the model does not take it, or not every one that may be asked does; it is ignored there.`]
      : [];
  return [
    ...without('seed', hasSeed && models.some(({ seed }) => !seed)),
    ...without('negative_prompt', hasNegativePrompt && models.some(({ negativePrompt }) => !negativePrompt)),
  ];
}

/** The chain as the job keeps it. */
export function linksOf(
  chain: readonly Candidate[],
  { seconds, resolution }: Pick<VideoWish, 'seconds' | 'resolution'>,
): VideoLink[] {
  return chain.map((candidate) => ({
    ...linkFrom(candidate, vendorPrice(candidate.row, seconds, resolution)),
    extend: videoModel(candidate.row).extend,
  }));
}
