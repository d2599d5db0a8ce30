// What a request asks of a model, and what a model that cannot do it is refused with (contract, video D2). Nothing that is billed is rounded
// or clamped: what the model does not offer is refused, naming what it does.

import { invalidField, type Problem } from '../../../problems/problem.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import type { VideoOperation, VideoResolution } from '../../../vendors/video/port.ts';
import { problem } from '../problems.ts';
import { type VideoModel, videoModel } from './family.ts';

export interface FilmWish {
  readonly operation: VideoOperation;
  readonly seconds: number;
  readonly resolution: VideoResolution;
  readonly aspectRatio: string;
  readonly hasImage: boolean;
}

/** Why a model cannot do a request; the first that is told is the first here. */
const reasons = ['resolution', 'aspect_ratio', 'image', 'duration_max', 'duration_set'] as const;
export type Reason = (typeof reasons)[number];

/** All that the model cannot do; null: it can do the request. */
export function unableReasons(row: ModelRow, wish: FilmWish): readonly Reason[] | null {
  const model = videoModel(row);
  const found = reasons.filter((reason) => fails[reason](model, wish));
  return found.length === 0 ? null : found;
}

const fails: Readonly<Record<Reason, (model: VideoModel, wish: FilmWish) => boolean>> = {
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
  wish: FilmWish,
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

function wrongLength(models: readonly VideoModel[], tooLong: boolean, { seconds }: FilmWish): Problem {
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
