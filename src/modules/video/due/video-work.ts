// Vendor input of a job: the request, the reference image, and for an extension or upscale the parent video.

import { vendorJobOf } from '../../../jobs/due/vendor-step.ts';
import type { Asked, SentRequest, VendorWork } from '../../../jobs/kind.ts';
import { LINK_SECONDS_MAX } from '../../../jobs/limits.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { workOf } from '../../../jobs/shape.ts';
import { problem } from '../../../problems/problem.ts';
import { attemptsOf } from '../../../routing/attempts.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { videoLink } from '../jobs/links.ts';
import { operationOf, storedVideoOf, type Wanted, wantedOf } from '../jobs/row.ts';
import { videoModel } from '../models/family.ts';
import type { VideoState } from '../state.ts';
import type { ParentVideo, ReferenceImage, VideoFiles, VideoWork } from '../vendors/port.ts';
import { takeVideo } from './take-video.ts';

interface Material {
  readonly image: ReferenceImage | null;
  /** What is extended or enlarged; null: nothing is. */
  readonly parent: JobRow | null;
}

export const CALLBACK_PATH = '/v1/vendors/callback';

type Own = Omit<VideoState, 'vendorWork'>;

export function videoWork(own: Own): VendorWork<Material, VideoFiles> {
  return {
    material: (job, signal) => materialOf(own, job, signal),
    workFor: (job, row, material, asked) => workFor(own, job, row, material, asked),
    requestOf: requestOf,
    take: (step, attempt, call, made) => takeVideo(own, step, attempt, call, made),
  };
}

/** Throws a Problem for an image that cannot be had, and for a video that is not kept any more. */
async function materialOf({ core, kind, images }: Own, job: JobRow, signal: AbortSignal): Promise<Material> {
  const { image } = wantedOf(job);
  const { parent_job_id: parentId } = job;
  const parent = parentId === null ? null : await kind.tables.store.read(core.db, job.account_id, parentId);
  if (parentId !== null && (parent === null || parent.made === null))
    throw problem('STATE_CONFLICT', {
      detail: 'output_expired',
      message: 'The video it is made of is not kept any more.',
    });
  return { image: image === null ? null : { ...(await images.open(job, image, signal)), url: null }, parent };
}

async function workFor(own: Own, job: JobRow, row: ModelRow, { image, parent: made }: Material, asked: Asked) {
  const parent = made === null ? null : await parentAt(own, made, asked);
  const wanted = wantedOf(job);
  const model = videoModel(row);
  const { prompt, seconds, resolution, aspectRatio, widthPx, heightPx, seed, negativePrompt } = wanted;
  return (token: string): VideoWork => ({
    operation: operationOf(job),
    model: row.id,
    options: row.options,
    prompt,
    seconds,
    resolution,
    aspectRatio,
    image,
    parent,
    token,
    negativePrompt: model.negativePrompt ? negativePrompt : null,
    width: widthPx,
    height: heightPx,
    seed: model.seed ? seed : null,
    callbackUrl: own.publicUrl === null ? null : `${own.publicUrl}${CALLBACK_PATH}/${token}`,
    deadlineMinutes: model.deadlineMinutes,
  });
}

/** The parent as this vendor can get at it. */
async function parentAt(
  { core, kind, publicUrl, shown }: Own,
  parent: JobRow,
  { vendor, nowMs }: Asked,
): Promise<ParentVideo> {
  const attempts = await attemptsOf(core.db, parent.account_id, workOf(kind.tables.shape, parent));
  const made = attempts.findLast((attempt) => attempt.vendor === vendor && attempt.reference !== null);
  return {
    job: made === undefined || parent.vendor !== vendor ? null : vendorJobOf(made),
    url: publicUrl === null ? null : videoLink(shown.links, parent, nowMs, LINK_SECONDS_MAX),
    seconds: storedVideoOf(parent)?.durationSeconds ?? 0,
  };
}

type Sent = SentRequest & Pick<Wanted, 'seconds' | 'resolution' | 'aspectRatio' | 'seed'>;

function requestOf(job: JobRow, row: ModelRow): Sent & { readonly operation: string } {
  const { seconds, resolution, aspectRatio, seed } = wantedOf(job);
  return { operation: job.operation, seconds, resolution, aspectRatio, seed, options: row.options };
}
