// Plan of a request: the candidate vendors with their quotes, the amount of the hold, and warnings for fields that the model does not take.

import { type JobPlan, planOf } from '../../../jobs/plan.ts';
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
  /** 0: it is not stored. */
  readonly retentionDays: number;
}

/** Throws what no model can do, and what names no model. `gibDayNanos`: of the price book. */
export function planJob(vendors: Vendors, request: PlanRequest, gibDayNanos: bigint): JobPlan {
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
  return planOf(chain, {
    assumedBytes: assumedBytes(request.videoSeconds, request.resolution),
    retentionDays: request.retentionDays,
    gibDayNanos,
    deadlineMinutesOf: (row) => videoModel(row).deadlineMinutes,
    warnings: warningsOf(chain, request),
  });
}

/** The sandbox videos the scenes of its own jobs. */
function extendsBy(vendors: Vendors, { vendor }: ModelRow): ExtendsBy {
  return vendor.id === SANDBOX ? 'job' : vendors.adapter<VideoAdapter>('video', vendor.adapter).extendsBy;
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
