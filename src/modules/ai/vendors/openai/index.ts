// Adapter for the chat-completions wire: OpenAI, OpenRouter, DeepSeek, DashScope, Moonshot, Gemini's compatible address, Ollama, llama.cpp,
// vLLM, SGLang. Differences between them are data: `quirks` of a model's row.
import { Type } from 'typebox';
import { isObject, objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { fieldsOf, numberAt } from '../../../../vendors/call/answer.ts';
import type { Refused } from '../../../../vendors/call/port.ts';
import { askVendor, chatBytesMax, countAt, errorInside, parseVendorJson, readJson, unreadable } from '../asking.ts';
import { Pieces, type SentEvent } from '../pieces.ts';
import type {
  AiAdapter,
  AiCall,
  AiUsage,
  ChatPiece,
  ChatReply,
  ChatRequest,
  EmbedReply,
  EmbedRequest,
} from '../port.ts';
import { readEmbeddings } from './embeddings.ts';
import { readOpenaiError } from './errors.ts';
import { withImages } from './images.ts';
import { questionOf } from './question.ts';
import { respond } from './responses.ts';

const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

const quirks = Type.Object(
  {
    limit_field: Type.Optional(Type.Enum([...LIMIT_FIELDS])),
    developer_role: Type.Optional(Type.Boolean()),
    stream_usage: Type.Optional(Type.Boolean()),
    strip: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })),
    images: Type.Optional(Type.Enum(['url', 'inline'])),
    embeddings: Type.Optional(Type.Enum(['base64', 'float'])),
  },
  { additionalProperties: false },
);

interface Quirks {
  /** `max_tokens` unless told; models that reason take max_completion_tokens. */
  readonly limit_field?: (typeof LIMIT_FIELDS)[number];
  /** Whether it knows the role developer; else that is system. Known unless told. */
  readonly developer_role?: boolean;
  /** Whether it takes stream_options. It does unless told. */
  readonly stream_usage?: boolean;
  /** Fields that it does not take. */
  readonly strip?: readonly string[];
  /** `inline`: it fetches no pictures itself. */
  readonly images?: 'url' | 'inline';
  /** The form in which it is asked for vectors; `base64` unless told, and whatever comes is read. */
  readonly embeddings?: 'base64' | 'float';
}

export const openaiModels: AiAdapter = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  modelFields: { quirks: Type.Optional(quirks), responses: Type.Optional(Type.Boolean()) },
  check: (model) =>
    model.options.responses === true && quirksOf(model).images === 'inline'
      ? [
          {
            field: 'quirks.images',
            message: 'Requests of /responses go as they came: images are fetched for chats only.',
          },
        ]
      : [],
  chat,
  own: { wire: 'responses', speaks: ({ responses }) => responses === true, ask: respond },
  embed,
};

function quirksOf({ options }: ChatRequest['model']): Quirks {
  return (options.quirks ?? {}) as Quirks;
}

async function chat(call: AiCall, request: ChatRequest): Promise<ChatReply> {
  const own = quirksOf(request.model);
  const prepared =
    own.images === 'inline' ? await withImages(call, request.body.messages) : { messages: request.body.messages };
  if ('fault' in prepared) return invalid(prepared.fault);
  const body = bodyOf(request, prepared.messages, own);
  const asked = await askVendor(call, questionOf(call, '/chat/completions', body), readOpenaiError);
  if (asked.kind !== 'answering') return asked;
  if (asked.isStream)
    return { kind: 'stream', pieces: new Pieces(call, asked.body, (event) => readEvent(call, event)) };
  const answer = fieldsOf(await readJson(asked.body, chatBytesMax(request)));
  if (answer?.error != null && !Array.isArray(answer.choices)) return errorInside(call, answer, readOpenaiError);
  if (answer === null || !Array.isArray(answer.choices)) return unreadable(call, answer);
  return { kind: 'completed', completion: answer, usage: usageOf(answer.usage) };
}

function bodyOf({ model, body, outputTokensMax, stream }: ChatRequest, messages: unknown, own: Quirks): WireObject {
  const left = new Set<string>([...LIMIT_FIELDS, ...(own.strip ?? [])]);
  const taken = Object.fromEntries(Object.entries(body).filter(([name]) => !left.has(name)));
  const limit = own.limit_field ?? (model.reasoning ? 'max_completion_tokens' : 'max_tokens');
  return {
    ...taken,
    messages: own.developer_role === false ? objectsOf(messages).map(withoutDeveloper) : messages,
    model: model.id,
    [limit]: outputTokensMax,
    ...(stream ? { stream: true } : {}),
    ...(stream && own.stream_usage !== false ? { stream_options: { include_usage: true } } : {}),
  };
}

function withoutDeveloper(message: WireObject): WireObject {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

function invalid(message: string): Refused {
  return { kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' }, message, vendorSaid: null };
}

function readEvent(call: AiCall, { data }: SentEvent): ChatPiece[] | null {
  if (data.trim() === '[DONE]') return [{ kind: 'end' }];
  const sent = parseVendorJson(data);
  if (!isObject(sent)) return null;
  if (sent.error != null) return [{ kind: 'failed', failure: errorInside(call, sent, readOpenaiError) }];
  const { usage: told, ...chunk } = sent;
  const usage = usageOf(told);
  const choices = objectsOf(chunk.choices);
  const pieces: ChatPiece[] =
    choices.length === 0 ? [] : [{ kind: 'chunk', chunk, hasContent: choices.some(hasContent) }];
  return usage === null ? pieces : [...pieces, { kind: 'usage', usage }];
}

/** Text, a tool call, a refusal, reasoning, sound: anything but the role and what is empty. */
function hasContent({ delta }: WireObject): boolean {
  return isObject(delta) && Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Null where the vendor says nothing of tokens. */
function usageOf(usage: unknown): AiUsage | null {
  const inputTokens = countAt(usage, 'prompt_tokens');
  if (inputTokens === null) return null;
  return {
    inputTokens,
    cachedInputTokens:
      countAt(usage, 'prompt_tokens_details.cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens') ?? 0,
    cacheWriteTokens: countAt(usage, 'prompt_tokens_details.cache_write_tokens') ?? 0,
    outputTokens: countAt(usage, 'completion_tokens') ?? 0,
    reasoningTokens: countAt(usage, 'completion_tokens_details.reasoning_tokens') ?? 0,
    costUsd: numberAt(usage, 'cost'),
  };
}

async function embed(call: AiCall, request: EmbedRequest): Promise<EmbedReply> {
  const { model, inputs, dimensions, further } = request;
  const body = {
    ...further,
    model: model.id,
    input: inputs,
    encoding_format: quirksOf(model).embeddings ?? 'base64',
    ...(dimensions === null ? {} : { dimensions }),
  };
  const asked = await askVendor(call, questionOf(call, '/embeddings', body), readOpenaiError);
  if (asked.kind !== 'answering') return asked;
  const { answer, vectors } = await readEmbeddings(asked.body, request);
  if (answer?.error != null && !Array.isArray(answer.data)) return errorInside(call, answer, readOpenaiError);
  return vectors === null ? unreadable(call, null) : { kind: 'embedded', vectors, usage: usageOf(answer?.usage) };
}
