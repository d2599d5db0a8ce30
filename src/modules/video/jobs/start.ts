// How a call becomes a job: what is wanted is checked against what may be asked for it, then the job begins with its hold.
import type { CallContext } from '../../../core/context.ts';
import { findReplay } from '../../../core/idempotency/write.ts';
import type { Candidate } from '../../../core/vendors/choose.ts';
import type { Vendors } from '../../../core/vendors/vendors.ts';
import { beginWork } from '../../../core/wallet/charge/charge.ts';
import type { Answer } from '../../../kit/capability.ts';
import { newId } from '../../../lib/ids.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { KEY_KEEP_MS, RETENTION_DAYS, SANDBOX_WORK, VENDOR_WORK, videoLimits } from '../limits.ts';
import type { VideoState } from '../state.ts';
import type { VideoOperation, VideoResolution } from '../vendors/port.ts';
import type { NewJob } from './begin.ts';
import { pictureSize } from './picture.ts';
import { linksOf, type Plan, type PlanRequest, planJob } from './plan.ts';
import { gibDayNanos } from './price.ts';
import type { SentImage } from './reference-images.ts';
import { type AspectRatio, chainOf, type JobRow, type Link, type Wanted, wantedText } from './row.ts';

/** Fields that all operations that make videos share, as they were sent. */
interface CommonInput {
  readonly model?: string | null;
  readonly vendor?: string | null;
  readonly store?: boolean;
  readonly retention_days?: number;
  readonly webhook_url?: string | null;
}

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

// Of a job's rows, for the bound on what waits in a lane.
const JOB_BYTES = 2_048;

/** What the request would come to now. Throws what no model can do. */
export function planRequest(state: Pick<VideoState, 'core' | 'publicUrl'>, request: StartRequest): Plan {
  const { vendors, prices } = state.core;
  return planJob(vendors, planRequestOf(state, request), gibDayNanos(prices));
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
  if (common.retention_days !== undefined && common.store !== true)
    throw invalidField('retention_days', 'needs_store', 'retention_days goes with store: true.');
  const plan = planRequest(state, request);
  requireSomebodyUp(ctx.core.vendors, plan, request.operation);
  ctx.warnings.push(...plan.warnings);
  const webhookUrl = common.webhook_url ?? null;
  if (webhookUrl !== null) {
    const warning = await core.outbound.checkUrl(webhookUrl, 'webhook_url');
    if (warning !== null) ctx.warnings.push(warning);
  }
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

/** Throws what the first of the chain is down for when all of it is down: no job would get anywhere now. */
function requireSomebodyUp({ health }: Vendors, { chain }: Plan, operation: VideoOperation): void {
  const downFor = ({ vendor }: Candidate) => health.downFor(vendor, `video.${operation}`);
  const [first, ...others] = chain.map(downFor);
  if (first == null || others.includes(null)) return;
  const { reason, retryAfterMs } = first;
  throw problem(reason, { message: 'No vendor that could take the job answers at present.', retryAfterMs });
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

/** Who made it. */
const linkOf = (job: JobRow) => chainOf(job)[job.position] as Link;

const retentionOf = ({ store, retention_days: days }: CommonInput) => (store === true ? (days ?? RETENTION_DAYS) : 0);

function rowOf(
  ctx: CallContext,
  jobId: string,
  request: StartRequest,
  plan: Plan,
  image: Wanted['image'],
): NewJob['row'] {
  const [first] = plan.chain;
  const { prompt, negativePrompt, seconds, videoSeconds, resolution, aspectRatio, seed, operation, parent } = request;
  const wanted: Wanted = {
    ...{ prompt, negativePrompt, seconds, videoSeconds, resolution, aspectRatio, seed, image },
    ...pictureSize(resolution, aspectRatio),
  };
  return {
    account_id: ctx.accountId,
    job_id: jobId,
    operation,
    parent_job_id: parent?.job_id ?? null,
    key_id: ctx.principal.id,
    request_id: ctx.requestId,
    trace_id: ctx.traceId,
    entry_form: ctx.entryForm,
    state: 'queued',
    version: 0,
    vendor: first.vendor,
    model: `${first.vendor}/${first.model}`,
    request: wantedText(wanted),
    chain: JSON.stringify(linksOf(plan.chain, request)),
    position: 0,
    left_reason: null,
    store: request.common.store ?? false,
    retention_days: retentionOf(request.common),
    held_nanos: plan.heldNanos,
    storage_nanos: plan.storageNanos,
    work: plan.isSandbox ? SANDBOX_WORK : VENDOR_WORK,
    attempt: 0,
    progress_pct: null,
    current_step: null,
    expected_ms: null,
    running_at: null,
    finished_at: null,
    ended: null,
    cost_nanos: null,
    video: null,
    warnings: [...plan.warnings],
    expires_at: null,
    deleted: false,
    worker_id: null,
    deaths: 0,
  };
}
