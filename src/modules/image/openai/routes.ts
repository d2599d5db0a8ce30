// Routes of the OpenAI Images API: `openai.images.generate` and `.edit` become a call of image.generate, answered when its job has ended. The
// API's other paths answer that they do not exist.
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { endedOf, isLive, type JobRow } from '../../../jobs/row.ts';
import { json, refusal } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { jobRecord } from '../jobs/record.ts';
import { imagesOf } from '../jobs/row.ts';
import { GENERATE_BODY_BYTES_MAX } from '../limits.ts';
import type { ImageState } from '../state.ts';
import { readEdit, readGeneration, type WireRequest } from './request.ts';

const LOOK_MS = 200;
/** Of base64 at once: whole groups of three bytes. */
const PIECE_BYTES = 48 * 1024;

const common = {
  name: 'image.openai',
  entryForm: 'openai_compat',
  bodyBytesMax: 64 * 1024,
  credentialOf: bearer,
  refuse: (failure: Problem) => refusal(failure, failure.param ?? null),
} as const;
const long = { ...common, methods: ['POST'], capability: null, bodyBytesMax: GENERATE_BODY_BYTES_MAX } as const;

export const openaiRoutes: readonly RawRoute<ImageState>[] = [
  {
    ...long,
    path: '/v1/images/generations',
    stream: 'answer',
    answer: async (request, state) => generateImages(request, state, await request.read(readGeneration, request.body)),
  },
  {
    ...long,
    path: '/v1/images/edits',
    stream: 'answer',
    answer: async (request, state) => generateImages(request, state, await request.read(readEdit, request.body)),
  },
  {
    ...common,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/v1/images/{rest*}',
    capability: null,
    answer: () => Promise.reject(problem('CAPABILITY_NOT_FOUND')),
  },
];

async function generateImages(
  request: RawRequest,
  state: ImageState,
  { input, asUrl }: WireRequest,
): Promise<RawAnswer> {
  if (request.principal === null) await request.identify(null);
  const { answer, problem: failure } = await request.invoke('image.generate', new JsonText(input), keyOf(request));
  if (answer === null) throw failure as Problem;
  const { data } = answer;
  const begun = (data instanceof JsonText ? JSON.parse(data.text) : data) as { readonly job_id: string };
  let ended: JobRow | null = null;
  // The same key that began it waits for it: a place is not held meanwhile.
  await request.perform('image.generate', async (ctx) => {
    ctx.idle();
    ended = await endOf(ctx, state, begun.job_id);
    return { data: null };
  });
  const job = requireMade(ended);
  const created = Math.floor(job.created_at / 1_000);
  if (!asUrl) return { status: 200, headers: json({}).headers, body: texts(state, job, created) };
  const shown = jobRecord(job, [], { ...state.shown, nowMs: await clockNow(state.core.db) });
  return json({ created, data: shown.images.map(({ url }) => ({ url })) });
}

/** Looks until the job has ended, or the client has left: the job goes on without it. */
async function endOf({ accountId, signal }: CallContext, state: ImageState, jobId: string): Promise<JobRow | null> {
  for (;;) {
    const going = await state.progress.add(accountId, jobId);
    if (going === null || !isLive(going.state)) break;
    await sleep(LOOK_MS, undefined, { signal });
  }
  return state.kind.tables.store.find(state.core.db, accountId, jobId);
}

/** Throws what the job has failed with. */
function requireMade(job: JobRow | null): JobRow {
  if (job === null) throw problem('JOB_NOT_FOUND');
  if (job.state === 'succeeded') return job;
  const error = endedOf(job)?.error;
  const code = (error?.code ?? (job.state === 'expired' ? 'VENDOR_TIMEOUT' : 'STATE_CONFLICT')) as 'VENDOR_ERROR';
  throw problem(code, { message: error?.message ?? `The job was ${job.state}.` });
}

/** The images as base64, piece by piece. */
async function* texts({ core }: ImageState, job: JobRow, created: number): AsyncIterable<string> {
  yield `{"created":${created},"data":[`;
  for (const [i, { asset }] of imagesOf(job).entries()) {
    yield `${i === 0 ? '' : ','}{"b64_json":"`;
    const bytes = await core.assets.read(asset);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES).toString('base64');
    yield '"}';
  }
  yield ']}';
}

function keyOf({ headers }: RawRequest): { readonly idempotencyKey?: string } {
  const sent = headers['idempotency-key'];
  return typeof sent === 'string' ? { idempotencyKey: sent } : {};
}
