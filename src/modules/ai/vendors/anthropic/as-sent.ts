// Adapter for requests that came on the vendor's own wire: the body goes as it came but for model and limit, and events come back unchanged.
import { isObject, type WireObject } from '../../../../lib/chat/body.ts';
import { fieldsOf } from '../../../../vendors/call/answer.ts';
import { askVendor, chatBytesMax, errorInside, parseVendorJson, readJson, unreadable } from '../asking.ts';
import { Pieces, type SentEvent } from '../pieces.ts';
import type { AiCall, ChatPiece, ChatReply, ChatRequest } from '../port.ts';
import { usageOf } from './answer.ts';
import { readAnthropicError } from './errors.ts';
import { questionOf } from './question.ts';

export async function passOn(call: AiCall, request: ChatRequest): Promise<ChatReply> {
  const { model, body, outputTokensMax, stream, headers = {} } = request;
  const sent = { ...body, model: model.id, max_tokens: outputTokensMax, ...(stream ? { stream: true } : {}) };
  const asked = await askVendor(
    call,
    questionOf(call, sent, narrowBetas(headers, model.options.betas)),
    readAnthropicError,
  );
  if (asked.kind !== 'answering') return asked;
  if (asked.isStream) {
    const events = new Events(call);
    return { kind: 'stream', pieces: new Pieces(call, asked.body, (event) => events.read(event)) };
  }
  const message = fieldsOf(await readJson(asked.body, chatBytesMax(request)));
  if (message?.type === 'error') return errorInside(call, message, readAnthropicError);
  if (message === null || !Array.isArray(message.content)) return unreadable(call, message);
  return { kind: 'completed', completion: { ...message, type: 'message' }, usage: usageOf(message.usage) };
}

/** `allowed`: those that the operator lets through; absent: all. */
function narrowBetas(headers: Readonly<Record<string, string>>, allowed: unknown): Readonly<Record<string, string>> {
  const { 'anthropic-beta': betas, ...rest } = headers;
  if (betas === undefined || !Array.isArray(allowed)) return headers;
  const kept = betas
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => allowed.includes(beta));
  return kept.length === 0 ? rest : { ...rest, 'anthropic-beta': kept.join(',') };
}

/** What the events of one stream mean, one after the other. */
class Events {
  readonly #call: AiCall;
  #usage: WireObject = {};

  constructor(call: AiCall) {
    this.#call = call;
  }

  read({ data }: SentEvent): ChatPiece[] | null {
    const sent = parseVendorJson(data);
    if (!isObject(sent) || typeof sent.type !== 'string') return null;
    switch (sent.type) {
      case 'ping':
        // The client gets its own, whenever nothing else comes.
        return [];
      case 'error':
        return [{ kind: 'failed', failure: errorInside(this.#call, sent, readAnthropicError) }];
      case 'message_start':
        // The input is known from the start: a stream that breaks has used that at least.
        return [chunkOf(sent), ...this.#usagePieces(isObject(sent.message) ? sent.message.usage : null, true)];
      case 'message_delta':
        return [
          chunkOf(sent),
          ...this.#usagePieces(sent.usage, !isObject(sent.delta) || sent.delta.stop_reason == null),
        ];
      case 'message_stop':
        return [...this.#usagePieces(null, false), { kind: 'end' }];
      default:
        return [chunkOf(sent)];
    }
  }

  /** Later figures are of the whole answer, and may leave out what has not changed. */
  #usagePieces(told: unknown, isPartial: boolean): ChatPiece[] {
    if (isObject(told)) this.#usage = { ...this.#usage, ...told };
    const usage = usageOf(this.#usage);
    return usage === null ? [] : [{ kind: 'usage', usage, ...(isPartial ? { isPartial } : {}) }];
  }
}

function chunkOf(event: WireObject): ChatPiece {
  return { kind: 'chunk', chunk: event, hasContent: hasContent(event) };
}

/** Words of any kind, or a block that is none of words. */
function hasContent({ type, delta, content_block: block }: WireObject): boolean {
  if (type === 'content_block_start') return isObject(block) && !isEmptyText(block);
  if (type !== 'content_block_delta' || !isObject(delta)) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'type' && value !== '' && value != null);
}

function isEmptyText({ type, text, thinking }: WireObject): boolean {
  return (type === 'text' || type === 'thinking') && !text && !thinking;
}
