// Adapter of OpenAI's Images API, also spoken by gateways and local servers; the base URL ends in /v1. Wire: POST /images/generations, and
// /images/edits as a form; the answer holds the images as base64 or their URLs. There is no job to poll: images in an answer are stored at once,
// and a lost answer stays lost.
import { Type } from 'typebox';
import { at, fieldsOf, textAt } from '../../../vendors/call/answer.ts';
import { askForBytes } from '../../../vendors/call/bytes-answer.ts';
import { fetchFile, URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import type { JobSubmission } from '../../../vendors/call/job.ts';
import { bearer, isSuccess } from '../../../vendors/call/job-calls.ts';
import { judge, type Meanings, meaningOf, type VendorError } from '../../../vendors/call/judge.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import type { ImageAdapter, ImageWork } from './port.ts';

/** Of what came with the answer; no address. */
const KEPT = 'kept:';
/** Of the addresses in an attempt's details. */
const DETAILS_CHARACTERS_MAX = 7_000;

export const openaiImages: ImageAdapter = {
  name: 'openai-images',
  baseUrl: 'https://api.openai.com/v1',
  modelFields: { extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  check: ({ seed }) => (seed ? [{ field: 'seed', message: 'This wire has no seed.' }] : []),
  submit,
  async poll(_call, { details }) {
    const urls = details.urls === undefined ? [] : (JSON.parse(details.urls) as string[]);
    const kept = Array.from({ length: Number(details.kept ?? 0) }, (_, i) => `${KEPT}${i}`);
    return { kind: 'succeeded', bill: 'quote', urls: [...kept, ...urls] };
  },
  cancel: async () => ({ kind: 'impossible' }),
  async download(call, url) {
    if (url.startsWith(KEPT)) return { kind: 'unsound', message: 'What the answer brought was lost.' };
    return fetchFile(call, bearer(call), url);
  },
};

async function submit(call: VendorCall, work: ImageWork): Promise<JobSubmission> {
  const isEdit = work.image !== null;
  const { reply, paths } = await askForBytes(call, {
    url: `${call.baseUrl}/images/${isEdit ? 'edits' : 'generations'}`,
    credentials: bearer(call),
    headers: { 'idempotency-key': work.token },
    body: isEdit ? formOf(work) : fields(work),
    field: 'b64_json',
    workPath: work.workPath,
    filesMax: work.n,
  });
  const body = reply.kind === 'answered' ? reply.body : undefined;
  const data = at(body, 'data');
  const items: readonly unknown[] = Array.isArray(data) ? data : [];
  const urls = items.flatMap((item) => textAt(item, 'url', URL_CHARACTERS_MAX) ?? []).slice(0, work.n);
  const isAccepted = isSuccess(reply) && (paths.length > 0 || urls.length > 0);
  if (!isAccepted) return judge(reply, readError(body), { awaits: 'job', key: call.key });
  const told = JSON.stringify(urls);
  const details = { kept: String(paths.length), ...(told.length <= DETAILS_CHARACTERS_MAX && { urls: told }) };
  return { kind: 'accepted', job: { reference: 'answer', details }, paths };
}

function fields({ model, prompt, n, size, options }: ImageWork): Record<string, unknown> {
  return { ...fieldsOf(options.extra), model, prompt, n, size };
}

function formOf(work: ImageWork): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields(work)))
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  for (const name of ['image', 'mask'] as const) {
    const picture = work[name];
    if (picture === null) continue;
    form.set(name, new Blob([new Uint8Array(picture.bytes)], { type: picture.contentType }), `${name}.png`);
  }
  return form;
}

/** `{error: {message, type, code}}`; servers of one's own also answer that flat. */
function readError(body: unknown): VendorError | null {
  const error = fieldsOf(at(body, 'error'));
  const flat = textAt(body, 'error') ?? textAt(body, 'detail');
  if (error === null && flat === null) return null;
  const said = flat ?? textAt(error, 'message', 10_000) ?? '';
  const codes = flat ?? [textAt(error, 'code'), textAt(error, 'type')].join(' ');
  return { said, means: meaningOf(MEANINGS, codes) };
}

const MEANINGS: Meanings = [
  ['content', /content_policy|content_filter|moderation|safety|sensitive|flagged/i],
  ['funds', /insufficient_quota|insufficient_credits|billing/i],
  ['auth', /invalid_api_key|authentication/i],
  ['busy', /rate_limit|concurren|too_many/i],
];
