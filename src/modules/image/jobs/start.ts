// How a call becomes a job: what is wanted is checked against what may be asked for it, then the job begins with its hold.
import { available } from '../../../assets/assets.ts';
import { findReplay } from '../../../core/idempotency/write.ts';
import { beginWork } from '../../../core/wallet/charge/charge.ts';
import { readSource, requireOneWay, type Source } from '../../../files/source.ts';
import { KEY_KEEP_MS } from '../../../jobs/limits.ts';
import { gibDayNanos } from '../../../jobs/price.ts';
import { requireFontOf } from '../../../jobs/sandbox-packages.ts';
import { checkedWebhook, JOB_BYTES, newRow, requireSomebodyUp, requireStoreFor } from '../../../jobs/start.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { invalidField } from '../../../problems/problem.ts';
import { imageLimits } from '../limits.ts';
import type { ImageState } from '../state.ts';
import { imageKind } from './kind.ts';
import { type ImageRequest, linksOf, type Plan, planJob } from './plan.ts';
import { STORAGE_PRICE } from './price.ts';
import type { SentPicture, Wanted } from './row.ts';

/** What is drawn upon, and where, as it was sent. */
export interface Sources {
  readonly image: Source | null;
  readonly mask: Source | null;
}

/** What the request would come to now. Throws what no model can do. */
export function planRequest({ core }: Pick<ImageState, 'core'>, request: ImageRequest): Plan {
  return planJob(core.vendors, request, gibDayNanos(core.prices, STORAGE_PRICE));
}

/** Begins the job and answers its record, or what an earlier call with the idempotency key answered. */
export async function startJob(
  ctx: CallContext,
  state: ImageState,
  request: ImageRequest,
  sources: Sources,
): Promise<Answer> {
  const { core } = ctx;
  // A replay comes before every other check.
  const replay = await findReplay(ctx);
  if (replay !== null) return replay;
  requireStoreFor(request.common);
  requireSources(sources);
  const plan = planRequest(state, request);
  requireSomebodyUp(core.vendors, plan.chain, 'image.generate');
  if (plan.isSandbox) requireFontOf(request.prompt);
  ctx.warnings.push(...plan.warnings);
  const webhookUrl = await checkedWebhook(ctx, request.common);
  await core.assets.require();
  const jobId = newId('img_');
  const jobsMax = imageLimits.image_jobs[ctx.tier];
  const { prompt, size, n, seed } = request;
  const pictures = await picturesOf(ctx, state, jobId, sources, { plan, jobsMax, units: BigInt(n) });
  const wanted: Wanted = { prompt, size, n, seed, ...pictures };
  const row = newRow(ctx, imageKind.tables.shape, {
    ...{ jobId, operation: 'generate', parentId: null, request: JSON.stringify(wanted) },
    ...plan,
    ...{ chain: linksOf(plan, request), common: request.common },
  });
  return beginWork(ctx, {
    units: BigInt(n),
    amountNanos: plan.heldNanos,
    owner: `image:${jobId}`,
    keepMs: KEY_KEEP_MS,
    effect: state.begin,
    input: { row, deadlineMs: plan.deadlineMs, jobsMax, webhookUrl },
    sequences: 0,
    bytes: JOB_BYTES + 4 * prompt.length,
    rows: 1,
  });
}

function requireSources({ image, mask }: Sources): void {
  if (mask !== null && image === null) throw invalidField('mask', 'needs_image', 'mask goes with image.');
  if (image !== null) requireOneWay(image, 'image');
  if (mask !== null) requireOneWay(mask, 'mask');
}

/** As the job keeps them: written anew as PNG, and decoded only when the job could begin. */
async function picturesOf(
  ctx: CallContext,
  { beforeDecoding, images }: ImageState,
  jobId: string,
  { image, mask }: Sources,
  { plan, jobsMax, units }: { readonly plan: Plan; readonly jobsMax: number; readonly units: bigint },
): Promise<Pick<Wanted, 'image' | 'mask'>> {
  if (image === null) return { image: null, mask: null };
  // What follows is work of others.
  ctx.idle();
  const { core, accountId } = ctx;
  const { bytesMax } = core.bounds.call.image;
  const keepSource = async (source: Source, param: string): Promise<SentPicture> => {
    const { bytes } = await readSource(ctx, source, { bytesMax, param });
    const made = await images.transform(ctx, bytes, { format: 'png' }, param);
    const asset = `${accountId}/${jobId}.${param}`;
    await available(core.log, () => core.assets.put(asset, made.bytes));
    return { asset, contentType: 'image/png' };
  };
  return beforeDecoding.run(ctx, { units, heldNanos: plan.heldNanos, jobsMax }, async () => ({
    image: await keepSource(image, 'image'),
    mask: mask === null ? null : await keepSource(mask, 'mask'),
  }));
}
