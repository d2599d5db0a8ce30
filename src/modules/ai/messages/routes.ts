// Endpoints of Anthropic's Messages on the engine of ai.chat: POST /v1/messages and /v1/messages/count_tokens. Clients change only the base
// URL. The models of that wire stand at the address of OpenAI's (openai/routes.ts).
import { apiKeyHeader, bearer } from '../../../core/credentials/http-schemes.ts';
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { openChat } from '../calls/open.ts';
import { BODY_BYTES_MAX, TOKENS_PER_IMAGE } from '../limits.ts';
import { answerChat, contextOf } from '../openai/answer.ts';
import type { AiState } from '../state.ts';
import { readMessagesBody } from './body.ts';
import { refuseMessage } from './errors.ts';
import { MessageWire } from './wire.ts';

const common = {
  name: 'ai.messages',
  entryForm: 'anthropic_compat',
  bodyBytesMax: BODY_BYTES_MAX,
  credentialOf: messagesCredential,
  refuse: refuseMessage,
} as const;

/** Parts of that wire that this service does not have. */
const absent = ['/v1/messages/batches', '/v1/messages/batches/{rest*}'];

export const messagesRoutes: readonly RawRoute<AiState>[] = [
  { ...common, methods: ['POST'], path: '/v1/messages', capability: 'ai.chat', stream: 'answer', answer: send },
  { ...common, methods: ['POST'], path: '/v1/messages/count_tokens', capability: 'ai.count_tokens', answer: count },
  ...absent.map((path): RawRoute<AiState> => {
    const answer = () => Promise.reject(problem('CAPABILITY_NOT_FOUND'));
    return { ...common, methods: ['GET', 'POST', 'DELETE'], path, capability: null, answer };
  }),
];

/** Programs that have a key of Anthropic's too send it as x-api-key, beside ours as a bearer token. */
export function messagesCredential(head: RawHead) {
  return bearer(head) ?? apiKeyHeader(head);
}

async function send(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const headers = wireHeaders(request);
  const { ask, key, fingerprint } = await request.read(readMessagesBody, request.body);
  request.takeKey(key, () => fingerprint);
  const wire = new MessageWire(request.requestId, (bytes) => ctx.holdAnswer(bytes));
  return answerChat(request, state, ctx, { ...ask, own: ask.own && { ...ask.own, headers } }, wire);
}

async function count(request: RawRequest): Promise<RawAnswer> {
  await contextOf(request);
  const { ask } = await request.read(readMessagesBody, request.body);
  const { inputTokens, images } = await openChat(ask);
  return json({ input_tokens: inputTokens + images * TOKENS_PER_IMAGE }, 200, { 'request-id': request.requestId });
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/;
const BETAS = /^[\w.:-]+( *, *[\w.:-]+)*$/;
const BETAS_CHARACTERS_MAX = 4_096;

/** Those that vendors of the wire get. Throws VALIDATION_FAILED. */
function wireHeaders({ headers }: RawHead): Readonly<Record<string, string>> {
  const { 'anthropic-version': version, 'anthropic-beta': betas = '' } = headers;
  if (version !== undefined && !VERSION.test(String(version)))
    throw invalidField('anthropic-version', 'format', 'anthropic-version is a date, such as 2023-06-01.');
  const beta = String(betas).trim();
  if (beta !== '' && (beta.length > BETAS_CHARACTERS_MAX || !BETAS.test(beta)))
    throw invalidField('anthropic-beta', 'format', 'anthropic-beta is a list of names, separated by commas.');
  return {
    ...(version === undefined ? {} : { 'anthropic-version': String(version) }),
    ...(beta === '' ? {} : { 'anthropic-beta': beta }),
  };
}
