// Work of image jobs with vendors: the material that an adapter gets, and the delivery of its result. A job succeeds only after its images are
// fetched, checked and stored here.
import { rm } from 'node:fs/promises';
import type { Asked, VendorWork } from '../../../jobs/kind.ts';
import type { JobRow } from '../../../jobs/row.ts';
import type { AttemptRow } from '../../../routing/attempts.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { sidesOf, wantedOf } from '../jobs/row.ts';
import { imageModel } from '../models/family.ts';
import type { ImageFiles, ImageWork, WorkPicture } from '../vendors/port.ts';
import type { Own } from './own.ts';
import { answerAsset, takeImages } from './take-images.ts';

export const CALLBACK_PATH = '/v1/vendors/callback/image';

interface Material {
  readonly image: WorkPicture | null;
  readonly mask: WorkPicture | null;
}

export function imageWork(own: Own): VendorWork<Material, ImageFiles> {
  const { assets } = own.core;
  return {
    async material(job) {
      const { image, mask } = wantedOf(job);
      const readSent = async (sent: typeof image) =>
        sent === null ? null : { bytes: await assets.read(sent.asset), contentType: sent.contentType };
      return { image: await readSent(image), mask: await readSent(mask) };
    },
    workFor: async (job, row, material, _asked: Asked) => workFor(own, job, row, material),
    requestOf(job, row) {
      const { size, n, seed } = wantedOf(job);
      return { size, n, seed, options: row.options };
    },
    take: (step, attempt: AttemptRow, call, made) => takeImages(own, step, attempt, call, made),
    async keepAnswer(job, attemptId, paths) {
      try {
        for (const [i, path] of paths.entries()) await assets.putFile(answerAsset(job, attemptId, i), path);
      } finally {
        await Promise.all(paths.map((path) => rm(path, { force: true })));
      }
    },
  };
}

function workFor({ core, publicUrl }: Own, job: JobRow, row: ModelRow, material: Material) {
  const { prompt, size, n, seed } = wantedOf(job);
  const { widthPx: width, heightPx: height } = sidesOf(size);
  const model = imageModel(row);
  return (token: string): ImageWork => ({
    model: row.id,
    options: row.options,
    prompt,
    size,
    width,
    height,
    n,
    token,
    ...material,
    seed: model.seed ? seed : null,
    callbackUrl: publicUrl === null ? null : `${publicUrl}${CALLBACK_PATH}/${token}`,
    deadlineMinutes: model.deadlineMinutes,
    workPath: () => core.assets.workPath(),
  });
}
