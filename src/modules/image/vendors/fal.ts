// Adapter of image models behind fal's queue (vendors/call/fal.ts).
import { at, textAt } from '../../../vendors/call/answer.ts';
import { falQueue } from '../../../vendors/call/fal.ts';
import { URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import { inputFieldsOf, mapOf, mappedInput, missingInputs, missingWords } from '../../../vendors/call/input-map.ts';
import { dataUrl } from '../../../vendors/call/job-calls.ts';
import type { ImageAdapter, ImageFiles, ImageWork } from './port.ts';

const IMAGES_MAX = 10;

export function falAdapter(): ImageAdapter {
  const queue = falQueue<ImageWork, ImageFiles>({
    modelFields: inputFieldsOf(['prompt', 'size', 'width', 'height', 'n', 'seed', 'image', 'mask']),
    input: ({ prompt, size, width, height, n, seed, image, mask, options }) =>
      mappedInput(options, mapOf(options), {
        prompt,
        size,
        width,
        height,
        n,
        seed,
        image: image && dataUrl(image),
        mask: mask && dataUrl(mask),
      }),
    readOutput: filesIn,
  });
  return {
    ...queue,
    check({ options, sizes, imagesMax, seed, edit }) {
      const map = mapOf(options);
      const isOffered = {
        seed,
        n: imagesMax > 1,
        image: edit,
        size: sizes.length > 1 && map.width === undefined,
      };
      return [...missingInputs(map, isOffered), ...missingWords(map, { size: sizes })];
    },
  };
}

/** `images[].url`, `image.url`, or what stands at the place that the row names. */
function filesIn(result: unknown, output: string | undefined): ImageFiles | null {
  const places = output === undefined ? ['images', 'image', 'output'] : [output];
  for (const place of places) {
    const found = at(result, place);
    const all = (Array.isArray(found) ? found : [found]).slice(0, IMAGES_MAX);
    const urls = all.flatMap((one) =>
      typeof one === 'string' ? [one] : (textAt(one, 'url', URL_CHARACTERS_MAX) ?? []),
    );
    if (urls.length > 0) return { urls };
  }
  return null;
}
