// Endpoints of OpenAI's chat completions, embeddings and models, on the engine of ai.chat and ai.embed: agents change only the base URL.

import { bearer } from '../../../core/credentials/http-schemes.ts';
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { modelNotFound } from '../../../routing/choose.ts';
import { ttlIn } from '../calls/ask.ts';
import { embed, listText } from '../calls/embed.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { refuseMessage } from '../messages/errors.ts';
import { modelInfo, modelPage, speaksMessages } from '../messages/models.ts';
import { messagesCredential } from '../messages/routes.ts';
import { CHAT } from '../models/family.ts';
import { listModels } from '../models/list.ts';
import type { AiState } from '../state.ts';
import { answerChat, answeredHeaders, contextOf, metadataBy, refuse } from './answer.ts';
import { readChatBody, readEmbedBody } from './bodies.ts';
import { CompletionWire } from './frames.ts';

const common = {
  name: 'ai.openai',
  entryForm: 'openai_compat',
  bodyBytesMax: 64 * 1024,
  credentialOf: bearer,
  refuse,
} as const;
const long = { bodyBytesMax: BODY_BYTES_MAX, stream: 'answer' } as const;

/** Of models, who sends anthropic-version is told in that wire's form. */
const forBoth = {
  credentialOf: messagesCredential,
  refuse: (failure: Problem, head: RawHead) => (speaksMessages(head) ? refuseMessage : refuse)(failure, head),
};

/** Parts of that wire that this service does not have. */
const absent = ['/v1/audio/{rest*}', '/v1/files', '/v1/files/{rest*}', '/v1/completions'];

export const openaiRoutes: readonly RawRoute<AiState>[] = [
  {
    ...common,
    ...long,
    methods: ['POST'],
    path: '/v1/chat/completions',
    capability: 'ai.chat',
    answer: complete,
    isForPages: true,
  },
  { ...common, ...long, methods: ['POST'], path: '/v1/embeddings', capability: 'ai.embed', answer: embeddings },
  { ...common, ...forBoth, methods: ['GET'], path: '/v1/models', capability: 'ai.models', answer: models },
  { ...common, ...forBoth, methods: ['GET'], path: '/v1/models/{id*}', capability: 'ai.models', answer: model },
  ...absent.map((path): RawRoute<AiState> => {
    const answer = () => Promise.reject(problem('CAPABILITY_NOT_FOUND'));
    return { ...common, methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], path, capability: null, answer };
  }),
];

async function complete(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const { ask, key, fingerprint } = await request.read(readChatBody, request.body);
  request.takeKey(key, () => fingerprint);
  return answerChat(request, state, ctx, ask, new CompletionWire(ask.showsUsage));
}

async function embeddings(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const { ask, key, fingerprint } = await request.read(readEmbedBody, request.body);
  request.takeKey(key, () => fingerprint);
  const metadataOf = metadataBy(request);
  const embedded = await embed(state, ctx, { ...ask, cacheTtlSeconds: ask.cacheTtlSeconds ?? ttlIn(request.headers) });
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
  if (speaksMessages(request)) return modelPage(listModels(state.core, CHAT), request.query);
  return json({ object: 'list', data: listModels(state.core, null) });
}

async function model(request: RawRequest, state: AiState): Promise<RawAnswer> {
  await contextOf(request);
  const { id = '' } = request.params;
  const all = listModels(state.core, null);
  const found = all.find((listed) => listed.id === id);
  if (found === undefined)
    throw modelNotFound(
      'No model has this id; GET /v1/models lists those there are.',
      id,
      all.map((listed) => listed.id),
    );
  return json(speaksMessages(request) ? modelInfo(found) : found);
}
