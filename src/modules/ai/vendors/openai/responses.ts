// Adapter for the responses wire, for models whose vendor speaks it: the request goes as it came, and events come back unchanged.
import { isObject, type WireObject } from '../../../../lib/chat/body.ts';
import { fieldsOf, numberAt } from '../../../../vendors/call/answer.ts';
import { askVendor, chatBytesMax, countAt, errorInside, parseVendorJson, readJson, unreadable } from '../asking.ts';
import { Pieces, type SentEvent } from '../pieces.ts';
import type { AiCall, AiUsage, ChatPiece, ChatReply, ChatRequest } from '../port.ts';
import { readOpenaiError } from './errors.ts';
import { questionOf } from './question.ts';

export async function respond(call: AiCall, request: ChatRequest): Promise<ChatReply> {
  const asked = await askVendor(call, questionOf(call, '/responses', bodyOf(request)), readOpenaiError);
  if (asked.kind !== 'answering') return asked;
  if (asked.isStream)
    return { kind: 'stream', pieces: new Pieces(call, asked.body, (event) => readEvent(call, event)) };
  const answer = fieldsOf(await readJson(asked.body, chatBytesMax(request)));
  if (answer?.error != null) return errorInside(call, answer, readOpenaiError);
  if (answer === null || !Array.isArray(answer.output)) return unreadable(call, answer);
  return { kind: 'completed', completion: { ...answer, object: 'response' }, usage: usageOf(answer.usage) };
}

/** Nothing is stored there either: a response is told by whoever has it. */
function bodyOf({ model, body, outputTokensMax, stream }: ChatRequest): WireObject {
  const { strip = [] } = (model.options.quirks ?? {}) as { readonly strip?: readonly string[] };
  const taken = Object.fromEntries(Object.entries(body).filter(([name]) => !strip.includes(name)));
  const limited = { model: model.id, max_output_tokens: outputTokensMax, store: false };
  return { ...taken, ...limited, ...(stream ? { stream: true } : {}) };
}

function readEvent(call: AiCall, { data }: SentEvent): ChatPiece[] | null {
  const sent = parseVendorJson(data);
  if (!isObject(sent) || typeof sent.type !== 'string') return null;
  const response = isObject(sent.response) ? sent.response : {};
  switch (sent.type) {
    case 'response.completed':
    case 'response.incomplete': {
      const usage = usageOf(response.usage);
      const end: ChatPiece = { kind: 'end', response: { ...response, object: 'response' } };
      return usage === null ? [end] : [{ kind: 'usage', usage }, end];
    }
    case 'response.failed':
      return [{ kind: 'failed', failure: errorInside(call, response, readOpenaiError) }];
    case 'error':
      return [{ kind: 'failed', failure: errorInside(call, { error: sent.error ?? sent }, readOpenaiError) }];
    default:
      return [{ kind: 'chunk', chunk: sent, hasContent: hasContent(sent) }];
  }
}

/** Words of any kind, or an item that is none of words. */
function hasContent({ type, delta, item }: WireObject): boolean {
  if (type === 'response.output_item.added')
    return isObject(item) && item.type !== 'message' && item.type !== 'reasoning';
  return typeof delta === 'string' && delta !== '';
}

function usageOf(usage: unknown): AiUsage | null {
  const inputTokens = countAt(usage, 'input_tokens');
  if (inputTokens === null) return null;
  return {
    inputTokens,
    cachedInputTokens: countAt(usage, 'input_tokens_details.cached_tokens') ?? 0,
    cacheWriteTokens: 0,
    outputTokens: countAt(usage, 'output_tokens') ?? 0,
    reasoningTokens: countAt(usage, 'output_tokens_details.reasoning_tokens') ?? 0,
    costUsd: numberAt(usage, 'cost'),
  };
}
