// Translates the body of `POST /v1/videos` (form or JSON) to the fields of video.generate. Images are long, so this runs in a thread.

import { jsonFields, unreadable } from '../../../kit/openai-wire.ts';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { readFormData } from '../../../lib/form-data.ts';
import { invalidField } from '../../../problems/problem.ts';
import { pictureSize } from '../jobs/picture.ts';
import { type AspectRatio, aspectRatios, resolutions } from '../jobs/row.ts';

/** What clients of this wire mean when they say nothing. */
const USUAL = { seconds: '4', size: '720x1280' };
const PARTS_MAX = 32;
const FIELDS = ['model', 'prompt', 'seconds', 'size', 'input_reference'];

interface Picture {
  readonly resolution: (typeof resolutions)[number];
  readonly aspect_ratio: AspectRatio;
}

const pictures: ReadonlyMap<string, Picture> = new Map(
  resolutions.flatMap((resolution) =>
    aspectRatios.map((aspect_ratio) => [sizeOf(resolution, aspect_ratio), { resolution, aspect_ratio }] as const),
  ),
);

/** `1280x720` */
export function sizeOf(resolution: Picture['resolution'], ratio: AspectRatio): string {
  const { widthPx, heightPx } = pictureSize(resolution, ratio);
  return `${widthPx}x${heightPx}`;
}

type Sent = Readonly<Record<string, unknown>>;

/** JSON text of the input of video.generate. Both throw VALIDATION_FAILED, INVALID_REQUEST. */
export const readJsonCreate: BodyTask<string> = {
  source: import.meta.url,
  id: 'video.openai.json',
  run: (body) => inputText(jsonFields(body)),
};
export const readFormCreate: BodyTask<string> = {
  source: import.meta.url,
  id: 'video.openai.form',
  run: (body) => inputText(formFields(body)),
};

/** A file becomes base64; `input_reference[image_url]` a member. */
function formFields(body: Buffer): Sent {
  const parts = readFormData(body, PARTS_MAX);
  if (parts === null) throw unreadable('The body is no form as its Content-Type says, or has too many fields.');
  const sent: Record<string, unknown> = {};
  for (const { name, isFile, bytes } of parts) {
    const [, outer = name, inner] = /^([a-z_]+)\[([a-z_]+)\]$/.exec(name) ?? [];
    if (Object.hasOwn(sent, outer)) throw invalidField(outer, 'repeated', `${outer} is there more than once.`);
    if (isFile && outer !== 'input_reference') throw invalidField(outer, 'type', `${outer} is no file.`);
    const value = isFile ? { image_url: bytes.toString('base64') } : bytes.toString('utf8');
    sent[outer] = inner === undefined ? value : { [inner]: value };
  }
  return sent;
}

function inputText(sent: Sent): string {
  const unknown = Object.keys(sent).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw invalidField(name, 'unknown_field', `There is no field ${name}; there are ${FIELDS.join(', ')}.`);
  }
  const { model, prompt, seconds = USUAL.seconds, size = USUAL.size, input_reference: reference } = sent;
  return JSON.stringify({
    model,
    prompt,
    duration_seconds: secondsOf(seconds),
    ...pictureOf(size),
    reference_image: reference === undefined || reference === null ? undefined : imageOf(reference),
  });
}

function secondsOf(sent: unknown): number {
  const isWhole = typeof sent === 'string' ? /^\d{1,4}$/.test(sent) : Number.isSafeInteger(sent);
  if (!isWhole) throw invalidField('seconds', 'type', 'seconds is a whole number, as a string.');
  return Number(sent);
}

function pictureOf(sent: unknown): Picture {
  const picture = pictures.get(String(sent));
  if (picture !== undefined) return picture;
  throw invalidField('size', 'size_not_offered', `size is one of ${[...pictures.keys()].join(', ')}.`);
}

/** A URL, a data URL or base64. */
function imageOf(sent: unknown): string {
  const { image_url: image, file_id: file } = (typeof sent === 'object' ? sent : {}) as Sent;
  if (typeof image === 'string' && file === undefined) return image;
  throw invalidField('input_reference', 'type', 'input_reference is an image file, or {"image_url": "https://…"}.');
}
