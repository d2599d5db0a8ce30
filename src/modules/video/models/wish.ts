// Checks of a request against a model, and the refusal if no model can serve it (contract, video D2). Nothing that is billed is rounded or
// clamped: a value that the model does not offer is refused, and the refusal names what it offers.

import { invalidField, type Problem, problem } from '../../../problems/problem.ts';
import { nameOf } from '../../../routing/choose.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import type { VideoAdapter, VideoOperation, VideoResolution } from '../vendors/port.ts';
import { type VideoModel, videoModel } from './family.ts';

export interface VideoWish {
  readonly operation: VideoOperation;
  readonly seconds: number;
  readonly resolution: VideoResolution;
  readonly aspectRatio: string;
  readonly hasImage: boolean;
  /** What is extended or enlarged; null: nothing is. */
  readonly parent: {
    /** `vendor/model`. */
    readonly madeBy: string;
    /** Whether vendors can fetch it from this service. */
    readonly isPublic: boolean;
  } | null;
}

/** How a model is told which video it is to extend or enlarge. */
export type ExtendsBy = VideoAdapter['extendsBy'];

/** Why a model cannot do a request; the first that is told is the first here. */
const reasons = [
  'made_elsewhere',
  'no_public_address',
  'resolution',
  'aspect_ratio',
  'image',
  'duration_max',
  'duration_set',
] as const;
export type Reason = (typeof reasons)[number];

/** All that the model cannot do; null: it can do the request. */
export function unableReasons(row: ModelRow, wish: VideoWish, extendsBy: ExtendsBy): readonly Reason[] | null {
  const model = videoModel(row);
  const found = reasons.filter((reason) => fails[reason](model, wish, extendsBy));
  return found.length === 0 ? null : found;
}

const fails: Readonly<Record<Reason, (model: VideoModel, wish: VideoWish, extendsBy: ExtendsBy) => boolean>> = {
  // Who is told by a job of its own goes on with what that job was, at its price.
  made_elsewhere: ({ row }, { parent }, extendsBy) =>
    parent !== null && extendsBy === 'job' && parent.madeBy !== nameOf(row),
  no_public_address: (_, { parent }, extendsBy) => parent !== null && extendsBy === 'url' && !parent.isPublic,
  resolution: (model, { resolution }) => !model.resolutions.includes(resolution),
  // What is extended or enlarged keeps its shape.
  aspect_ratio: (model, { operation, aspectRatio }) =>
    operation === 'generate' && !model.aspectRatios.includes(aspectRatio),
  image: (model, { hasImage }) => hasImage && !model.imageToVideo,
  duration_max: (model, { operation, seconds }) => operation !== 'upscale' && seconds > model.secondsMax,
  duration_set: (model, { operation, seconds }) =>
    operation !== 'upscale' && seconds <= model.secondsMax && !offersSeconds(model, seconds),
};

function offersSeconds({ secondsOnly, secondsMin }: VideoModel, seconds: number): boolean {
  return secondsOnly === null ? seconds >= secondsMin : secondsOnly.includes(seconds);
}

/** The refusal of a request that none of these models can do. */
export function cannotServe(
  models: readonly { readonly row: ModelRow; readonly why: readonly Reason[] }[],
  wish: VideoWish,
): Problem {
  const isLength = (reason: Reason) => reason === 'duration_max' || reason === 'duration_set';
  // Those that could do all but the length say what lengths there are.
  const near = models.filter(({ why }) => why.every(isLength));
  if (near.length > 0)
    return wrongLength(
      near.map(({ row }) => videoModel(row)),
      near.every(({ why }) => why.includes('duration_max')),
      wish,
    );
  const reason = reasons.find((one) => models.every(({ why }) => why.includes(one))) ?? (models[0]?.why[0] as Reason);
  const offered = models.map(({ row }) => videoModel(row));
  switch (reason) {
    case 'made_elsewhere':
      return cannotReach(
        reason,
        `It works on videos that it has made itself; this one was made by ${wish.parent?.madeBy}.`,
      );
    case 'no_public_address':
      return cannotReach(reason, 'The vendor would fetch the video from this service, which has no public address.');
    case 'resolution':
      return notOffered(
        'resolution',
        'resolution_not_offered',
        offered.flatMap((model) => model.resolutions),
      );
    case 'aspect_ratio':
      return notOffered(
        'aspect_ratio',
        'aspect_ratio_not_offered',
        offered.flatMap((model) => model.aspectRatios),
      );
    default:
      return invalidField('reference_image', 'image_not_offered', 'The model does not take a reference image.');
  }
}

function cannotReach(detail: Reason, message: string): Problem {
  return problem('VENDOR_NOT_AVAILABLE', { param: 'model', detail, message });
}

function wrongLength(models: readonly VideoModel[], tooLong: boolean, { seconds }: VideoWish): Problem {
  const param = 'duration_seconds';
  if (tooLong) {
    const max = Math.max(...models.map(({ secondsMax }) => secondsMax));
    return problem('DURATION_EXCEEDED', {
      param,
      message: `${seconds} seconds are more than the model allows: at most ${max}.`,
    });
  }
  const sets = models.map(
    ({ secondsOnly, secondsMin, secondsMax }) => secondsOnly?.join(', ') ?? `${secondsMin} to ${secondsMax}`,
  );
  const message = `The model does not offer ${seconds} seconds, but ${[...new Set(sets)].join(', or ')}.`;
  return invalidField(param, 'duration_not_offered', message);
}

function notOffered(param: string, rule: string, offered: readonly string[]): Problem {
  return invalidField(param, rule, `The model offers ${[...new Set(offered)].join(', ')}.`);
}
