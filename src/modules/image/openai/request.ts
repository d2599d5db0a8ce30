// Parses `POST /v1/images/generations` and `/v1/images/edits`, JSON or form, into the input of image.generate. Runs in a thread, since image
// bodies are long.
import { jsonFields, unreadable } from '../../../kit/openai-wire.ts';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { readFormData } from '../../../lib/form-data.ts';
import { invalidField } from '../../../problems/problem.ts';
import { DEFAULT_SIZE } from '../models/family.ts';

export interface WireRequest {
  /** JSON text of the input of image.generate. */
  readonly input: string;
  readonly asUrl: boolean;
}

/** Of what that wire has besides, nothing would be done: it is told. `user` and `stream: false` say nothing about the image. */
const FIELDS = ['model', 'prompt', 'n', 'size', 'response_format', 'user', 'stream', 'image', 'mask', 'seed'];
const FILES = ['image', 'mask'];
const PARTS_MAX = 32;

type Sent = Readonly<Record<string, unknown>>;

/** Both throw VALIDATION_FAILED, INVALID_REQUEST. */
export const readGeneration: BodyTask<WireRequest> = {
  source: import.meta.url,
  id: 'image.openai.generation',
  run: (body) => wireRequest(jsonFields(body)),
};
export const readEdit: BodyTask<WireRequest> = {
  source: import.meta.url,
  id: 'image.openai.edit',
  run: (body) => wireRequest(formFields(body)),
};

/** A file becomes base64; of `image[]` the first and only one counts. */
function formFields(body: Buffer): Sent {
  const parts = readFormData(body, PARTS_MAX);
  if (parts === null) throw unreadable('The body is no form as its Content-Type says, or has too many fields.');
  const sent: Record<string, unknown> = {};
  for (const { name: told, isFile, bytes } of parts) {
    const name = told.replace(/\[\]$/, '');
    if (Object.hasOwn(sent, name)) throw invalidField(name, 'repeated', `${name} is there more than once.`);
    if (isFile !== FILES.includes(name))
      throw invalidField(name, 'type', isFile ? `${name} is no file.` : `${name} is a file.`);
    sent[name] = isFile ? { content_base64: bytes.toString('base64') } : bytes.toString('utf8');
  }
  if (sent.image === undefined) throw invalidField('image', 'required', 'image is required.');
  return sent;
}

function wireRequest(sent: Sent): WireRequest {
  const unknown = Object.keys(sent).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw invalidField(name, 'unknown_field', `There is no field ${name}; there are ${FIELDS.join(', ')}.`);
  }
  const { model, prompt, n, size, seed, image, mask, response_format: format = 'b64_json' } = sent;
  if (format !== 'b64_json' && format !== 'url')
    throw invalidField('response_format', 'enum', 'response_format is url or b64_json.');
  if (String(sent.stream ?? false) !== 'false') throw invalidField('stream', 'enum', 'stream is false.');
  const input = JSON.stringify({
    model,
    prompt,
    n: wholeOf(n),
    seed: wholeOf(seed),
    image,
    mask,
    size: size === 'auto' || size === null ? DEFAULT_SIZE : size,
  });
  return { input, asUrl: format === 'url' };
}

/** A form has only texts. */
function wholeOf(sent: unknown): unknown {
  if (sent === null) return undefined;
  return typeof sent === 'string' && /^\d{1,10}$/.test(sent) ? Number(sent) : sent;
}
