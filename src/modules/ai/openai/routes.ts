// The wire of OpenAI's chat completions, embeddings and models, on the same engine as ai.chat and ai.embed: agents change one base address.
import type { CallContext } from '../../../core/context.ts';
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { commentText, withHeartbeat, within } from '../../../lib/event-stream.ts';
import { usd } from '../../../lib/money.ts';
import type { Answer } from '../../../manifest/capability.ts';
import { json, refusal } from '../../../manifest/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../manifest/raw-route.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { chat } from '../calls/chat.ts';
import type { ChatEvent } from '../calls/chat-event.ts';
import { embed, listText } from '../calls/embed.ts';
import { BODY_BYTES_MAX, CACHE_TTL_SECONDS_MAX, COMMENT_EVERY_MS, HEAD_AFTER_MS } from '../limits.ts';
import { listModels } from '../models/list.ts';
import { problem } from '../problems.ts';
import type { AiState } from '../state.ts';
import { readChatBody, readEmbedBody } from './bodies.ts';
import { framesOf } from './frames.ts';

const common = {
  name: 'ai.openai',
  entryForm: 'openai_compat',
  bodyBytesMax: 64 * 1024,
  credentialOf: bearer,
  refuse,
} as const;
const long = { bodyBytesMax: BODY_BYTES_MAX, stream: 'answer' } as const;

/** Parts of that wire that this service does not have. */
const absent = ['/v1/images/{rest*}', '/v1/audio/{rest*}', '/v1/files', '/v1/files/{rest*}', '/v1/completions'];

export const openaiRoutes: readonly RawRoute<AiState>[] = [
  { ...common, ...long, methods: ['POST'], path: '/v1/chat/completions', capability: 'ai.chat', answer: complete },
  { ...common, ...long, methods: ['POST'], path: '/v1/embeddings', capability: 'ai.embed', answer: embeddings },
  { ...common, methods: ['GET'], path: '/v1/models', capability: 'ai.models', answer: models },
  { ...common, methods: ['GET'], path: '/v1/models/{id*}', capability: 'ai.models', answer: model },
  ...absent.map((path): RawRoute<AiState> => {
    const answer = () => Promise.reject(problem('CAPABILITY_NOT_FOUND'));
    return { ...common, methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], path, capability: null, answer };
  }),
];

function refuse(failure: Problem, head: RawHead): RawAnswer {
  const metadata = head.failureMetadata();
  return refusal(failure, failure.param ?? null, metadata === null ? {} : { service_metadata: metadata });
}

async function complete(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const { ask: read, key, fingerprint } = await request.read(readChatBody, request.body);
  request.takeKey(key, () => fingerprint);
  const ask = { ...read, cacheTtlSeconds: read.cacheTtlSeconds ?? ttlIn(request) };
  const metadataOf = metadataBy(request);
  const events = chat(state, ctx, ask);
  if (!ask.stream) return whole(events, metadataOf);
  const first = events.next();
  first.catch(() => undefined);
  // What fails at once has its own status; headers do not wait for ever, and then a failure is told in the stream.
  const begun = await within(first, HEAD_AFTER_MS);
  let costNanos = 0n;
  const frames = framesOf(begun === null ? first : Promise.resolve(begun), events, {
    ...{ showsUsage: ask.showsUsage, isLate: begun === null },
    endMetadata: ({ answer, isEstimated }) => {
      costNanos = answer.costNanos ?? 0n;
      return metadataOf(answer, isEstimated);
    },
    failureMetadata: () => request.failureMetadata(),
  });
  const accepted = begun?.done === false && begun.value.kind === 'accepted' ? begun.value : null;
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      ...(accepted === null ? {} : servedHeaders(accepted.vendor, accepted.model)),
    },
    body: withHeartbeat(frames, COMMENT_EVERY_MS, commentText('waiting')),
    costNanos: () => costNanos,
  };
}

async function whole(events: AsyncGenerator<ChatEvent, void>, metadataOf: MetadataOf): Promise<RawAnswer> {
  for await (const event of events) {
    if (event.kind !== 'end') continue;
    const { completion, answer, isEstimated } = event;
    const headers = answeredHeaders(completion.model as string, answer);
    const told = json({ ...completion, service_metadata: metadataOf(answer, isEstimated) }, 200, headers);
    return { ...told, costNanos: answer.costNanos ?? 0n };
  }
  throw new Error('a chat ended without an end');
}

async function embeddings(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const { ask, key, fingerprint } = await request.read(readEmbedBody, request.body);
  request.takeKey(key, () => fingerprint);
  const metadataOf = metadataBy(request);
  const embedded = await embed(state, ctx, ask);
  const { answer, isEstimated, model: name } = embedded;
  const headers = answeredHeaders(name, answer);
  async function* text() {
    yield* listText(embedded, ask.encoding);
    yield `,"service_metadata":${JSON.stringify(metadataOf(answer, isEstimated))}}`;
  }
  const { headers: own } = json({}, 200, headers);
  return { status: 200, headers: own, body: text(), costNanos: answer.costNanos ?? 0n };
}

async function models(request: RawRequest, state: AiState): Promise<RawAnswer> {
  await contextOf(request);
  return json({ object: 'list', data: listModels(state.core, null) });
}

async function model(request: RawRequest, state: AiState): Promise<RawAnswer> {
  await contextOf(request);
  const { id = '' } = request.params;
  const found = listModels(state.core, null).find((listed) => listed.id === id);
  if (found === undefined)
    throw problem('MODEL_NOT_FOUND', { param: 'model', message: 'GET /v1/models lists those there are.' });
  return json(found);
}

type MetadataOf = (answer: Omit<Answer, 'data'>, isEstimated: boolean) => object;

function metadataBy(request: RawRequest): MetadataOf {
  return (answer, isEstimated) => ({ ...request.metadata({ ...answer, data: null }), usage_estimated: isEstimated });
}

/** As the header says it, in place of the body. */
function ttlIn({ headers }: RawRequest): number | null {
  const sent = headers['x-qm-cache-ttl'];
  if (sent === undefined) return null;
  const seconds = Number(sent);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= CACHE_TTL_SECONDS_MAX) return seconds;
  throw invalidField('X-QM-Cache-TTL', 'range', `X-QM-Cache-TTL is 1 to ${CACHE_TTL_SECONDS_MAX} seconds.`);
}

/** Who calls, as a call of the route's capability; it is told what is missing. */
async function contextOf(request: RawRequest): Promise<CallContext> {
  return request.ctx ?? (await request.admit(null));
}

function servedHeaders(vendor: string, name: string) {
  return { 'x-qm-vendor': vendor, 'x-qm-model': name };
}

function answeredHeaders(name: string, { served, costNanos = 0n }: Omit<Answer, 'data'>) {
  return { ...servedHeaders(served?.vendor ?? 'self', name), 'x-qm-cost-usd': String(usd(costNanos)) };
}
