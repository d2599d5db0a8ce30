// Plan of an image request: the vendors that may be tried with their quotes, and the amount of the hold. Refuses what no model can do.

import { type JobPlan, planOf } from '../../../jobs/plan.ts';
import type { Link } from '../../../jobs/row.ts';
import { type CommonInput, linkFrom, retentionOf } from '../../../jobs/start.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import type { Vendors } from '../../../routing/vendors.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { type ImageModel, imageModel, quoteImages, vendorNanos } from '../models/family.ts';
import { assumedBytes } from './price.ts';

export interface ImageRequest {
  readonly prompt: string;
  readonly size: string;
  readonly n: number;
  readonly seed: number | null;
  readonly hasImage: boolean;
  readonly crossRegion: boolean;
  readonly common: CommonInput;
}

/** Why a model cannot do a request; the first that is told is the first here. */
const reasons = ['size', 'n', 'image'] as const;
type Reason = (typeof reasons)[number];

const fails: Readonly<Record<Reason, (model: ImageModel, request: ImageRequest) => boolean>> = {
  size: ({ sizes }, { size }) => !sizes.includes(size),
  n: ({ imagesMax }, { n }) => n > imagesMax,
  image: ({ edit }, { hasImage }) => hasImage && !edit,
};

/** Throws what no model can do, and what names no model. `gibDayNanos`: of the price book. */
export function planJob(vendors: Vendors, request: ImageRequest, gibDayNanos: bigint): JobPlan {
  const { size, n, seed, common } = request;
  const choice = vendors.choose<readonly Reason[]>({
    capability: 'image.generate',
    model: common.model ?? null,
    vendor: common.vendor ?? null,
    crossRegion: request.crossRegion,
    unable(row) {
      const found = reasons.filter((reason) => fails[reason](imageModel(row), request));
      return found.length === 0 ? null : found;
    },
    quote: (row) => quoteImages(row, size, n),
  });
  if (choice.kind === 'unable') throw cannotServe(choice.models);
  const { chain } = choice;
  const isSeedIgnored = seed !== null && chain.some(({ row }) => !imageModel(row).seed);
  return planOf(chain, {
    assumedBytes: assumedBytes(size, n),
    retentionDays: retentionOf(common),
    gibDayNanos,
    deadlineMinutesOf: (row) => imageModel(row).deadlineMinutes,
    warnings: isSeedIgnored ? ['seed: a model that may be asked does not take it; it is ignored there.'] : [],
  });
}

function cannotServe(models: readonly { readonly row: ModelRow; readonly why: readonly Reason[] }[]): Problem {
  const reason = reasons.find((one) => models.every(({ why }) => why.includes(one))) ?? (models[0]?.why[0] as Reason);
  const offered = models.map(({ row }) => imageModel(row));
  switch (reason) {
    case 'size': {
      const sizes = [...new Set(offered.flatMap((model) => model.sizes))];
      return invalidField('size', 'size_not_offered', `The model offers ${sizes.join(', ')}.`);
    }
    case 'n': {
      const most = Math.max(...offered.map(({ imagesMax }) => imagesMax));
      return invalidField('n', 'n_not_offered', `The model makes at most ${most} images a call.`);
    }
    case 'image':
      return invalidField('image', 'image_not_offered', 'The model does not take an image.');
  }
}

/** The chain as the job keeps it. */
export function linksOf({ chain }: JobPlan, { size, n }: Pick<ImageRequest, 'size' | 'n'>): Link[] {
  return chain.map((candidate) =>
    linkFrom(candidate, { vendorNanos: vendorNanos(candidate.row, size, n), per: 'image' }),
  );
}
