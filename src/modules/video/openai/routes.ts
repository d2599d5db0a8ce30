// Routes of OpenAI's videos API, on the same jobs. A request of `openai.videos` is a call of video.generate, get, list, delete or download_url,
// with its scope, rate and price. The rest of that API is not served.

import { bearer } from '../../../core/credentials/http-schemes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { fileAnswer } from '../../../jobs/content.ts';
import { progressOf } from '../../../jobs/progress.ts';
import { keptJob, requireJob } from '../../../jobs/read.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawOutcome, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField, type Problem, problem } from '../../../problems/problem.ts';
import { videoFiles } from '../content.ts';
import { videoKind } from '../jobs/kind.ts';
import { jobRecord } from '../jobs/record.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { VideoState } from '../state.ts';
import { refusalOfVideos, videoOf } from './answers.ts';
import { readFormCreate, readJsonCreate } from './request.ts';

const PATH = '/v1/videos';
const LISTED = 20;
const LISTED_MAX = 100;

const common = {
  name: 'video.openai',
  entryForm: 'openai_compat',
  bodyBytesMax: 64 * 1024,
  credentialOf: bearer,
  refuse: refusalOfVideos,
} as const;

export const openaiRoutes: readonly RawRoute<VideoState>[] = [
  { ...common, methods: ['POST'], path: PATH, capability: null, bodyBytesMax: BODY_BYTES_MAX, answer: create },
  { ...common, methods: ['GET'], path: PATH, capability: 'video.list', answer: list },
  { ...common, methods: ['GET'], path: `${PATH}/{id}`, capability: 'video.get', answer: retrieve },
  { ...common, methods: ['DELETE'], path: `${PATH}/{id}`, capability: null, answer: remove },
  {
    ...common,
    methods: ['GET', 'HEAD'],
    path: `${PATH}/{id}/content`,
    capability: 'video.download_url',
    stream: 'answer',
    answer: download,
  },
  {
    ...common,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: `${PATH}/{rest*}`,
    capability: null,
    answer: () => Promise.reject(problem('CAPABILITY_NOT_FOUND')),
  },
];

async function create(request: RawRequest): Promise<RawAnswer> {
  if (request.principal === null) await request.identify(null);
  const task = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '') ? readFormCreate : readJsonCreate;
  const input = new JsonText(await request.read(task, request.body));
  const { data } = requireAnswer(await request.invoke('video.generate', input, keyOf(request)));
  const job = (data instanceof JsonText ? JSON.parse(data.text) : data) as ReturnType<typeof jobRecord>;
  return json(videoOf(job, 0));
}

async function retrieve(request: RawRequest, state: VideoState): Promise<RawAnswer> {
  const { accountId } = await contextOf(request);
  const job = await requireJob(state.kind.tables, state.core.db, accountId, request.params.id ?? '');
  return json(shownVideo(state, job, await clockNow(state.core.db)));
}

async function list(request: RawRequest, state: VideoState): Promise<RawAnswer> {
  const { accountId } = await contextOf(request);
  const { db } = state.core;
  const { store } = state.kind.tables;
  const { after, limit, ascending } = pageOf(request.query);
  const filter = { state: null, model: null, vendor: null, parentId: null };
  const rows = await (ascending
    ? store.listUpwards(db, accountId, after, limit + 1)
    : store.list(db, accountId, filter, after, limit + 1));
  const nowMs = await clockNow(db);
  const data = rows.slice(0, limit).map((row) => shownVideo(state, row, nowMs));
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return json({ object: 'list', data, ...ends, has_more: rows.length > limit });
}

async function remove(request: RawRequest): Promise<RawAnswer> {
  if (request.principal === null) await request.identify(null);
  const { id = '' } = request.params;
  requireAnswer(await request.invoke('video.delete', { job_id: id }, keyOf(request)));
  return json({ id, object: 'video.deleted', deleted: true });
}

async function download(request: RawRequest, { core, kind }: VideoState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const variant = request.query.get('variant') ?? 'video';
  if (variant !== 'video' && variant !== 'thumbnail')
    throw invalidField('variant', 'enum', 'variant is video or thumbnail; there are no others.');
  const job = await keptJob(kind.tables, core.db, ctx.accountId, request.params.id ?? '');
  return fileAnswer(core, videoFiles, job, variant, { 'cache-control': 'private, no-store' });
}

/** Who calls, as a call of the route's capability; it is told what is missing. */
async function contextOf(request: RawRequest): Promise<CallContext> {
  return request.ctx ?? (await request.admit(null));
}

function keyOf({ headers }: RawRequest): { readonly idempotencyKey?: string } {
  const sent = headers['idempotency-key'];
  return typeof sent === 'string' ? { idempotencyKey: sent } : {};
}

function requireAnswer({ answer, problem: failure }: RawOutcome) {
  if (answer === null) throw failure as Problem;
  return answer;
}

function shownVideo({ shown }: VideoState, job: JobRow, nowMs: number) {
  return videoOf(jobRecord(job, [], { ...shown, nowMs }), progressOf(job, nowMs).progress_pct ?? 0);
}

function pageOf(query: URLSearchParams) {
  const after = query.get('after');
  if (after !== null && !videoKind.tables.store.isId(after))
    throw invalidField('after', 'pattern', 'after is the id of a video.');
  const limit = query.get('limit') ?? String(LISTED);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > LISTED_MAX)
    throw invalidField('limit', 'range', `limit is 1 to ${LISTED_MAX}.`);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalidField('order', 'enum', 'order is asc or desc.');
  return { after, limit: Number(limit), ascending: order === 'asc' };
}
