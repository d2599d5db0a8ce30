import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { readChat, type SentChat, ttlIn } from '../calls/ask.ts';
import { chat as chatOf } from '../calls/chat.ts';
import { packLong } from '../calls/open.ts';
import { channelOf, publishedTo } from '../calls/stream-to.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { AiState } from '../state.ts';
import { cacheField, cacheHeader, modelField, routingFields, streamToField, streamToHeader } from './fields.ts';

/** What of a completion is read here; a vendor's may have more. */
interface Completion {
  readonly choices: readonly {
    readonly message?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens?: number; readonly completion_tokens?: number };
}

export const chat = defineCapability<AiState>()({
  method: 'POST',
  path: '/v1/ai/chat',
  summary: 'Asks a language model.',
  description:
    'Takes the body of chat/completions and answers with its completion. What this service does not know in it goes to the model as it came. ' +
    'The most that the call may cost is held, what it used is charged; a call that fails costs nothing. When a vendor fails before it has said ' +
    'anything, the next that can do the same is asked, unless you pin one. For an answer piece by piece send the same body to ' +
    '/v1/chat/completions with stream: true; clients of that API work there unchanged. Without a vendor configured the sandbox restates your ' +
    'words: for tests.',
  keywords: [
    'llm completion',
    'chat gpt',
    'openai chat completions',
    'prompt a language model',
    'claude messages',
    'text generation',
    'summarize text',
  ],
  input: Type.Object(
    {
      model: modelField,
      messages: Type.Unsafe<unknown[]>({
        type: 'array',
        minItems: 1,
        description: 'The conversation, as in chat/completions: objects with role and content.',
      }),
      max_completion_tokens: Type.Optional(
        Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 1,
          description: 'The longest answer. When null or absent the model decides, as far as your credit goes.',
        }),
      ),
      cache_ttl_seconds: cacheField,
      stream_to: streamToField,
      ...routingFields,
    },
    { additionalProperties: true },
  ),
  output: Type.Unsafe<Completion>({
    type: 'object',
    additionalProperties: true,
    title: 'Completion',
    description: 'A chat.completion: id, choices with message and finish_reason, model as vendor/model, usage.',
    required: ['choices', 'model', 'usage'],
    properties: {
      choices: { type: 'array', description: 'The answers.' },
      model: { type: 'string', description: 'The model that answered, `vendor/model`.' },
      usage: { type: 'object', description: 'Tokens.' },
    },
  }),
  price: 'ai.chat',
  waits: true,
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (value: object, { text }) => ({ value: readWhole(value, text), transfer: [] }),
  },
  readsHeaders: { ...cacheHeader, ...streamToHeader },
  errors: ['MODEL_NOT_FOUND', 'VENDOR_NOT_AVAILABLE', 'CONTENT_REFUSED', 'CONCURRENCY_LIMITED', 'VENDOR_DOWN'],
  events: ['wallet.low_balance'],
  limits: {
    calls: '20 calls at once (standard tier), 100 (pro), 1,000 (enterprise), with embeddings.',
    body: '16 MiB.',
  },
  examples: [
    {
      title: 'A question to the sandbox',
      input: { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] },
      expect: { object: 'chat.completion', model: 'sandbox/echo-1' },
    },
  ],
  async run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const read = input as unknown as SentChat;
    const ask = { ...read, cacheTtlSeconds: read.cacheTtlSeconds ?? ttlIn(ctx.sentHeaders) };
    const channel = channelOf(ask.streamTo, ctx.sentHeaders);
    const events =
      channel === null
        ? chatOf(state, ctx, ask)
        : publishedTo(ctx, channel, chatOf(state, ctx, { ...ask, stream: true }));
    for await (const event of events) {
      if (event.kind !== 'end') continue;
      return { ...event.answer, usageEstimated: event.isEstimated, data: event.completion };
    }
    throw new Error('a chat ended without an end');
  },
});

function readWhole(sent: object, text: string): SentChat {
  const ask = readChat(sent as Readonly<Record<string, unknown>>, text);
  if (!ask.stream) return packLong(ask, text.length);
  throw invalidField('stream', 'not_here', 'Streams are answered by POST /v1/chat/completions, with the same body.');
}
