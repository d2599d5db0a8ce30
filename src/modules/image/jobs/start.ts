// Start of an image job: checks the request against its plan, then creates the job together with its hold.
import { available } from '../../../assets/assets.ts';
import { readSource, requireOneWay, type Source } from '../../../files/source.ts';
import { acceptJob } from '../../../jobs/accept.ts';
import type { JobPlan } from '../../../jobs/plan.ts';
import { gibDayNanos } from '../../../jobs/price.ts';
import { requireFontOf } from '../../../jobs/sandbox-packages.ts';
import { requireStoreFor } from '../../../jobs/start.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { imageLimits } from '../limits.ts';
import type { ImageState } from '../state.ts';
import { type ImageRequest, linksOf, planJob } from './plan.ts';
import { STORAGE_PRICE } from './price.ts';
import type { SentPicture, Wanted } from './row.ts';

/** What is drawn upon, and where, as it was sent. */
export interface Sources {
  readonly image: Source | null;
  readonly mask: Source | null;
}

/** What the request would come to now. Throws what no model can do. */
export function planRequest({ core }: Pick<ImageState, 'core'>, request: ImageRequest): JobPlan {
  return planJob(core.vendors, request, gibDayNanos(core.prices, STORAGE_PRICE));
}

/** Begins the job and answers its record, or what an earlier call with the idempotency key answered. */
export function startJob(
  ctx: CallContext,
  state: ImageState,
  request: ImageRequest,
  sources: Sources,
): Promise<Answer> {
  return acceptJob(ctx, state, () => {
    const { prompt, size, n, seed, common } = request;
    requireStoreFor(common);
    requireSources(sources);
    const plan = planRequest(state, request);
    if (plan.isSandbox) requireFontOf(prompt);
    const jobsMax = imageLimits.image_jobs[ctx.tier];
    return {
      operation: 'generate',
      parentId: null,
      plan,
      links: linksOf(plan, request),
      units: n,
      jobsMax,
      prompt,
      common,
      async request(jobId) {
        const pictures = await picturesOf(ctx, state, jobId, sources, { plan, jobsMax, units: BigInt(n) });
        return JSON.stringify({ prompt, size, n, seed, ...pictures } satisfies Wanted);
      },
    };
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
  { plan, jobsMax, units }: { readonly plan: JobPlan; readonly jobsMax: number; readonly units: bigint },
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
