// What a vendor gets to work with: the request, the reference image, and of an extension or an enlargement the video that it is made of.
import { attemptsOf } from '../../../core/vendors/attempts.ts';
import { problem } from '../../../problems/problem.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { type JobRow, type Operation, storedVideoOf, type Wanted, wantedOf } from '../jobs/row.ts';
import { readJob } from '../jobs/store.ts';
import { LINK_SECONDS_MAX } from '../limits.ts';
import { videoModel } from '../models/family.ts';
import type { VideoState } from '../state.ts';
import type { ParentVideo, ReferenceImage, VideoWork } from '../vendors/port.ts';
import { vendorJobOf, workOf } from './vendor-step.ts';

export interface Material {
  readonly image: ReferenceImage | null;
  /** What is extended or enlarged; null: nothing is. */
  readonly parent: JobRow | null;
}

/** Throws a Problem for an image that cannot be had, and for a video that is not kept any more. */
export async function materialOf(state: VideoState, job: JobRow, signal: AbortSignal): Promise<Material> {
  const { image } = wantedOf(job);
  const { parent_job_id: parentId } = job;
  const parent = parentId === null ? null : await readJob(state.core.db, job.account_id, parentId);
  if (parentId !== null && (parent === null || parent.video === null))
    throw problem('STATE_CONFLICT', {
      detail: 'output_expired',
      message: 'The video it is made of is not kept any more.',
    });
  return { image: image === null ? null : { ...(await state.images.open(job, image, signal)), url: null }, parent };
}

/** The parent as this vendor can get at it. */
export async function parentAt(state: VideoState, parent: JobRow, vendor: string, nowMs: number): Promise<ParentVideo> {
  const attempts = await attemptsOf(state.core.db, parent.account_id, workOf(parent));
  const made = attempts.findLast((attempt) => attempt.vendor === vendor && attempt.reference !== null);
  return {
    job: made === undefined || parent.vendor !== vendor ? null : vendorJobOf(made),
    url: state.publicUrl === null ? null : state.links.video(parent, nowMs, LINK_SECONDS_MAX),
    seconds: storedVideoOf(parent)?.durationSeconds ?? 0,
  };
}

export function workFor(
  state: Pick<VideoState, 'publicUrl'>,
  job: JobRow,
  row: ModelRow,
  material: { readonly image: ReferenceImage | null; readonly parent: ParentVideo | null },
  token: string,
): VideoWork {
  const wanted = wantedOf(job);
  const model = videoModel(row);
  const { prompt, seconds, resolution, aspectRatio, widthPx, heightPx, seed, negativePrompt } = wanted;
  return {
    operation: job.operation,
    model: row.id,
    options: row.options,
    ...{ prompt, seconds, resolution, aspectRatio, ...material, token },
    negativePrompt: model.negativePrompt ? negativePrompt : null,
    width: widthPx,
    height: heightPx,
    seed: model.seed ? seed : null,
    callbackUrl: state.publicUrl === null ? null : `${state.publicUrl}${CALLBACK_PATH}/${token}`,
    deadlineMinutes: model.deadlineMinutes,
  };
}

export const CALLBACK_PATH = '/v1/vendors/callback';

/** As the attempt keeps it: without the words and pictures, which stand in the job until its owner deletes them. */
export interface SentRequest extends Pick<Wanted, 'seconds' | 'resolution' | 'aspectRatio' | 'seed'> {
  readonly operation: Operation;
  readonly options: Readonly<Record<string, unknown>>;
}

export function requestOf(job: JobRow, row: ModelRow): SentRequest {
  const { seconds, resolution, aspectRatio, seed } = wantedOf(job);
  return { operation: job.operation, seconds, resolution, aspectRatio, seed, options: row.options };
}
