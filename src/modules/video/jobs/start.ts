// Start of a job: the request is checked against what models offer, then the job begins with its hold.

import { acceptJob } from '../../../jobs/accept.ts';
import type { JobPlan } from '../../../jobs/plan.ts';
import { gibDayNanos } from '../../../jobs/price.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { requireEncoder, requireFontOf } from '../../../jobs/sandbox-packages.ts';
import { type CommonInput, requireStoreFor, retentionOf } from '../../../jobs/start.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { videoLimits } from '../limits.ts';
import type { VideoState } from '../state.ts';
import type { VideoOperation, VideoResolution } from '../vendors/port.ts';
import { pictureSize } from './picture.ts';
import { linksOf, type PlanRequest, planJob } from './plan.ts';
import { STORAGE_PRICE } from './price.ts';
import type { SentImage } from './reference-images.ts';
import { type AspectRatio, linkOf, type Wanted, wantedText } from './row.ts';

export interface StartRequest {
  readonly operation: VideoOperation;
  readonly parent: JobRow | null;
  readonly prompt: string;
  readonly negativePrompt: string | null;
  readonly seconds: number;
  readonly videoSeconds: number;
  readonly resolution: VideoResolution;
  readonly aspectRatio: AspectRatio;
  readonly seed: number | null;
  readonly referenceImage: SentImage | null;
  readonly crossRegion: boolean;
  readonly common: CommonInput;
}

/** What the request would come to now. Throws what no model can do. */
export function planRequest(state: Pick<VideoState, 'core' | 'publicUrl'>, request: StartRequest): JobPlan {
  const { vendors, prices } = state.core;
  return planJob(vendors, planRequestOf(state, request), gibDayNanos(prices, STORAGE_PRICE));
}

/** Begins the job and answers its record, or what an earlier call with the idempotency key answered. */
export function startJob(
  ctx: CallContext,
  state: VideoState,
  requested: () => StartRequest | Promise<StartRequest>,
): Promise<Answer> {
  return acceptJob(ctx, state, async () => {
    const request = await requested();
    const { operation, parent, prompt, seconds, common } = request;
    requireStoreFor(common);
    const plan = planRequest(state, request);
    if (plan.isSandbox) {
      requireEncoder();
      requireFontOf(prompt);
    }
    const jobsMax = videoLimits.video_jobs[ctx.tier];
    return {
      operation,
      parentId: parent?.job_id ?? null,
      plan,
      links: linksOf(plan.chain, request),
      units: seconds,
      jobsMax,
      prompt,
      common,
      async request(jobId) {
        const image = await imageOf(ctx, state, jobId, request, { heldNanos: plan.heldNanos, jobsMax });
        return wantedText(wantedFrom(request, image));
      },
    };
  });
}

/** The reference image as the job keeps it; one that was sent is decoded only when the job could begin. */
async function imageOf(
  ctx: CallContext,
  { images, beforeDecoding }: VideoState,
  jobId: string,
  { referenceImage, seconds }: StartRequest,
  ask: { readonly heldNanos: bigint; readonly jobsMax: number },
): Promise<Wanted['image']> {
  if (referenceImage === null) return null;
  if (typeof referenceImage === 'string') return images.takeUrl(ctx, referenceImage);
  // What follows is work of others.
  ctx.idle();
  const units = BigInt(seconds);
  return beforeDecoding.run(ctx, { units, ...ask }, () => images.takeBytes(ctx, jobId, referenceImage));
}

function planRequestOf(
  { core, publicUrl }: Pick<VideoState, 'core' | 'publicUrl'>,
  request: StartRequest,
): PlanRequest {
  const { operation, parent, seconds, videoSeconds, resolution, aspectRatio, crossRegion, common } = request;
  return {
    operation,
    seconds,
    videoSeconds,
    resolution,
    aspectRatio,
    // What was made elsewhere may go on there.
    crossRegion: crossRegion || (parent !== null && linkOf(parent).region !== core.region),
    model: common.model ?? null,
    vendor: common.vendor ?? null,
    hasImage: request.referenceImage !== null,
    parent: parent === null ? null : { madeBy: parent.model, isPublic: publicUrl !== null },
    hasSeed: request.seed !== null,
    hasNegativePrompt: request.negativePrompt !== null,
    retentionDays: retentionOf(common),
  };
}

function wantedFrom(request: StartRequest, image: Wanted['image']): Wanted {
  const { prompt, negativePrompt, seconds, videoSeconds, resolution, aspectRatio, seed } = request;
  return {
    prompt,
    negativePrompt,
    seconds,
    videoSeconds,
    resolution,
    aspectRatio,
    seed,
    image,
    ...pictureSize(resolution, aspectRatio),
  };
}
