// How a call becomes a job: what is wanted is checked against what may be asked for it, then the job begins with its hold.

import { findReplay } from '../../../core/idempotency/write.ts';
import { beginWork } from '../../../core/wallet/charge/charge.ts';
import type { NewJob } from '../../../jobs/begin.ts';
import { KEY_KEEP_MS } from '../../../jobs/limits.ts';
import { gibDayNanos } from '../../../jobs/price.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { requireEncoder, requireFontOf } from '../../../jobs/sandbox-packages.ts';
import {
  type CommonInput,
  checkedWebhook,
  JOB_BYTES,
  newRow,
  requireSomebodyUp,
  requireStoreFor,
  retentionOf,
} from '../../../jobs/start.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { videoLimits } from '../limits.ts';
import type { VideoState } from '../state.ts';
import type { VideoOperation, VideoResolution } from '../vendors/port.ts';
import { videoKind } from './kind.ts';
import { pictureSize } from './picture.ts';
import { linksOf, type Plan, type PlanRequest, planJob } from './plan.ts';
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
export function planRequest(state: Pick<VideoState, 'core' | 'publicUrl'>, request: StartRequest): Plan {
  const { vendors, prices } = state.core;
  return planJob(vendors, planRequestOf(state, request), gibDayNanos(prices, STORAGE_PRICE));
}

/** Begins the job and answers its record, or what an earlier call with the idempotency key answered. */
export async function startJob(
  ctx: CallContext,
  state: VideoState,
  requested: () => StartRequest | Promise<StartRequest>,
): Promise<Answer> {
  const { core } = ctx;
  // A replay comes before every other check.
  const replay = await findReplay(ctx);
  if (replay !== null) return replay;
  const request = await requested();
  const { common } = request;
  requireStoreFor(common);
  const plan = planRequest(state, request);
  requireSomebodyUp(core.vendors, plan.chain, `video.${request.operation}`);
  if (plan.isSandbox) {
    requireEncoder();
    requireFontOf(request.prompt);
  }
  ctx.warnings.push(...plan.warnings);
  const webhookUrl = await checkedWebhook(ctx, common);
  await core.assets.require();
  const jobId = newId('vid_');
  const jobsMax = videoLimits.video_jobs[ctx.tier];
  const image = await imageOf(ctx, state, jobId, request, { heldNanos: plan.heldNanos, jobsMax });
  const input: NewJob = {
    row: rowOf(ctx, jobId, request, plan, image),
    ...{ deadlineMs: plan.deadlineMs, jobsMax, webhookUrl },
  };
  return beginWork(ctx, {
    units: BigInt(request.seconds),
    amountNanos: plan.heldNanos,
    owner: `video:${jobId}`,
    keepMs: KEY_KEEP_MS,
    effect: state.begin,
    input,
    sequences: 0,
    bytes: JOB_BYTES + 4 * request.prompt.length,
    rows: 1,
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
    ...{ operation, seconds, videoSeconds, resolution, aspectRatio },
    // What was made elsewhere may go on there.
    crossRegion: crossRegion || (parent !== null && linkOf(parent).region !== core.region),
    model: common.model ?? null,
    vendor: common.vendor ?? null,
    hasImage: request.referenceImage !== null,
    parent: parent === null ? null : { madeBy: parent.model, isPublic: publicUrl !== null },
    hasSeed: request.seed !== null,
    hasNegativePrompt: request.negativePrompt !== null,
    store: common.store ?? false,
    retentionDays: retentionOf(common),
  };
}

function rowOf(
  ctx: CallContext,
  jobId: string,
  request: StartRequest,
  plan: Plan,
  image: Wanted['image'],
): NewJob['row'] {
  const { prompt, negativePrompt, seconds, videoSeconds, resolution, aspectRatio, seed, operation, parent } = request;
  const wanted: Wanted = {
    ...{ prompt, negativePrompt, seconds, videoSeconds, resolution, aspectRatio, seed, image },
    ...pictureSize(resolution, aspectRatio),
  };
  return newRow(ctx, videoKind.tables.shape, {
    ...{ jobId, operation, parentId: parent?.job_id ?? null, request: wantedText(wanted) },
    ...plan,
    ...{ chain: linksOf(plan.chain, request), common: request.common },
  });
}
