// The `input` of a model's row on wires where every model has inputs of its own (fal, replicate): our field → where it stands in theirs,
// `duration_seconds: duration`, dots for nesting; with `values` where theirs are other words. What is not mapped is not sent.

import { Type } from 'typebox';
import type { ModelFault } from '../../../vendors/call/job.ts';
import { dataUrl } from '../../../vendors/call/job-calls.ts';
import type { VideoModelRow, VideoWork } from './port.ts';

const NAMES = [
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
] as const;
type Name = (typeof NAMES)[number];

/** No name of an object's own machinery. */
const PATH = '^(?!(?:.*\\.)?(?:__proto__|constructor|prototype)(?:\\.|$))[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){0,7}$';
const path = Type.String({ pattern: PATH });
const words = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]));
const target = Type.Union([path, Type.Object({ field: path, values: words }, { additionalProperties: false })]);

/** For `modelFields`: `input`, and `extra`, which is sent with every request. */
export const inputFields = {
  input: Type.Optional(
    Type.Object(Object.fromEntries(NAMES.map((name) => [name, Type.Optional(target)])), {
      additionalProperties: false,
    }),
  ),
  extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

type Target = string | { readonly field: string; readonly values: Readonly<Record<string, unknown>> };
type InputMap = Readonly<Partial<Record<Name, Target>>>;

/** Without another word the prompt is called so everywhere, but for models that only enlarge. */
function mapOf(options: Readonly<Record<string, unknown>>, operation: VideoWork['operation'] = 'generate'): InputMap {
  return { ...(operation !== 'upscale' && { prompt: 'prompt' }), ...(options.input as InputMap | undefined) };
}

/** What the row offers and its map does not say. */
export function inputFaults(model: VideoModelRow): ModelFault[] {
  const map = mapOf(model.options);
  const isOffered: Partial<Record<Name, boolean>> = {
    negative_prompt: model.negativePrompt,
    seed: model.seed,
    reference_image: model.imageToVideo,
    parent_video: model.extend !== null || model.upscale,
    duration_seconds: 'only' in model.seconds ? model.seconds.only.length > 1 : model.seconds.max > model.seconds.min,
    resolution: model.resolutions.length > 1 && map.width === undefined,
    aspect_ratio: model.aspectRatios.length > 1 && map.width === undefined,
  };
  const missing = (Object.keys(isOffered) as Name[])
    .filter((name) => isOffered[name] && map[name] === undefined)
    .map((name) => ({
      field: `input.${name}`,
      message: '`input` has no mapping for this feature.',
    }));
  return [...missing, ...wordFaults(model, map)];
}

function wordFaults(model: VideoModelRow, map: InputMap): ModelFault[] {
  const offered: Partial<Record<Name, readonly (string | number)[]>> = {
    resolution: model.resolutions,
    aspect_ratio: model.aspectRatios,
    duration_seconds: 'only' in model.seconds ? model.seconds.only : [],
  };
  return (Object.keys(offered) as Name[]).flatMap((name) => {
    const to = map[name];
    if (to === undefined || typeof to === 'string') return [];
    const without = (offered[name] ?? []).filter((value) => !Object.hasOwn(to.values, String(value)));
    return without.map((value) => ({ field: `input.${name}.values`, message: `There is no word for ${value}.` }));
  });
}

/** The vendor's input of one request. */
export function vendorInput(work: VideoWork): Record<string, unknown> {
  const input: Record<string, unknown> = structuredClone(work.options.extra ?? {}) as Record<string, unknown>;
  const map = mapOf(work.options, work.operation);
  for (const [name, value] of Object.entries(valuesOf(work))) {
    const to = map[name as Name];
    if (to === undefined || value === null) continue;
    if (typeof to === 'string') put(input, to, value);
    else put(input, to.field, Object.hasOwn(to.values, String(value)) ? to.values[String(value)] : value);
  }
  return input;
}

function valuesOf(work: VideoWork): Record<Name, string | number | null> {
  return {
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
  };
}

/** Beyond this vendors want an address in place of the bytes. */
const INLINE_BYTES_MAX = 256 * 1024;

function imageOf(image: NonNullable<VideoWork['image']>): string {
  return image.url !== null && image.bytes.length > INLINE_BYTES_MAX ? image.url : dataUrl(image);
}

function put(input: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let place = input;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    place[name] = typeof next === 'object' && next !== null ? next : {};
    place = place[name] as Record<string, unknown>;
  }
  place[last] = value;
}
