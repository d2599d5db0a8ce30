// Input fields of a video request, for wires where every model has its own inputs (vendors/call/input-map.ts).
import { inputFieldsOf, mapOf, mappedInput, missingInputs, missingWords } from '../../../vendors/call/input-map.ts';
import type { ModelFault } from '../../../vendors/call/job.ts';
import { dataUrl } from '../../../vendors/call/job-calls.ts';
import type { VideoModelRow, VideoWork } from './port.ts';

export const inputFields = inputFieldsOf([
  'prompt',
  'negative_prompt',
  'duration_seconds',
  'resolution',
  'aspect_ratio',
  'width',
  'height',
  'seed',
  'reference_image',
  'parent_video',
]);

/** What the row offers and its map does not say. */
export function inputFaults(model: VideoModelRow): ModelFault[] {
  const map = mapOf(model.options);
  const isOffered = {
    negative_prompt: model.negativePrompt,
    seed: model.seed,
    reference_image: model.imageToVideo,
    parent_video: model.extend !== null || model.upscale,
    duration_seconds: 'only' in model.seconds ? model.seconds.only.length > 1 : model.seconds.max > model.seconds.min,
    resolution: model.resolutions.length > 1 && map.width === undefined,
    aspect_ratio: model.aspectRatios.length > 1 && map.width === undefined,
  };
  const offered = {
    resolution: model.resolutions,
    aspect_ratio: model.aspectRatios,
    duration_seconds: 'only' in model.seconds ? model.seconds.only : [],
  };
  return [...missingInputs(map, isOffered), ...missingWords(map, offered)];
}

/** The vendor's input of one request. */
export function vendorInput(work: VideoWork): Record<string, unknown> {
  // Models that only enlarge take no prompt.
  return mappedInput(work.options, mapOf(work.options, work.operation !== 'upscale'), {
    prompt: work.prompt,
    negative_prompt: work.negativePrompt,
    duration_seconds: work.seconds,
    resolution: work.resolution,
    aspect_ratio: work.aspectRatio,
    width: work.width,
    height: work.height,
    seed: work.seed,
    reference_image: work.image && imageOf(work.image),
    parent_video: work.parent?.url ?? null,
  });
}

/** Beyond this vendors want an address in place of the bytes. */
const INLINE_BYTES_MAX = 256 * 1024;

function imageOf(image: NonNullable<VideoWork['image']>): string {
  return image.url !== null && image.bytes.length > INLINE_BYTES_MAX ? image.url : dataUrl(image);
}

/** The fields that a model's row offers though its wire cannot say them. */
export function unsayable(isOffered: Readonly<Record<string, boolean>>, wire = 'This wire'): ModelFault[] {
  const fields = Object.keys(isOffered).filter((field) => isOffered[field] === true);
  return fields.map((field) => ({ field, message: `${wire} has no way to say this.` }));
}
