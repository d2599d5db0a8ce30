// Translation of Messages API answers into chat completions, whole and piece by piece.
import { isObject, objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { countAt, errorInside, parseVendorJson } from '../asking.ts';
import type { SentEvent } from '../pieces.ts';
import type { AiCall, AiUsage, ChatPiece } from '../port.ts';
import { readAnthropicError } from './errors.ts';
import { signedThoughts, Thoughts } from './thoughts.ts';

const FINISHES: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const secondsNow = () => Math.floor(Date.now() / 1_000);

/** `asText`: the tool whose input is the text of the answer. */
export function completionOf(message: WireObject, asText: string | null): WireObject {
  const blocks = objectsOf(message.content);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text ?? '')] : []));
  const thoughts = blocks.flatMap((block) => (block.type === 'thinking' ? [String(block.thinking ?? '')] : []));
  const kept = signedThoughts(blocks);
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  const answer = uses.find(({ name }) => name === asText);
  const calls = answer === undefined ? uses.map(callOf) : [];
  const content = answer === undefined ? text.join('') : JSON.stringify(answer.input);
  const said = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('') }),
    ...(kept.length === 0 ? {} : { thinking_blocks: kept }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const finish = finishOf(message.stop_reason, answer !== undefined);
  const choices = [{ index: 0, message: said, logprobs: null, finish_reason: finish }];
  return { id: message.id, object: 'chat.completion', created: secondsNow(), model: message.model, choices };
}

function callOf({ id, name, input }: WireObject): WireObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };
}

function finishOf(reason: unknown, isAnswer: boolean): string {
  const finish = FINISHES[String(reason)] ?? 'stop';
  return isAnswer && finish === 'tool_calls' ? 'stop' : finish;
}

/** Input counts what was read from the vendor's cache, and what was written there. */
export function usageOf(usage: unknown): AiUsage | null {
  const plain = countAt(usage, 'input_tokens');
  if (plain === null) return null;
  const cachedInputTokens = countAt(usage, 'cache_read_input_tokens') ?? 0;
  const cacheWriteTokens = countAt(usage, 'cache_creation_input_tokens') ?? 0;
  return {
    inputTokens: plain + cachedInputTokens + cacheWriteTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: countAt(usage, 'output_tokens') ?? 0,
    reasoningTokens: 0,
    costUsd: null,
  };
}

/** What the events of one stream mean, one after the other. */
export class MessageStream {
  readonly #call: AiCall;
  readonly #asText: string | null;
  #base: WireObject = {};
  #usage: WireObject = {};
  readonly #thoughts = new Thoughts();
  /** Numbers of tool calls, by the index of their block; null: the block is the text of the answer. */
  readonly #calls = new Map<unknown, number | null>();

  constructor(call: AiCall, asText: string | null) {
    this.#call = call;
    this.#asText = asText;
  }

  read({ data }: SentEvent): ChatPiece[] | null {
    const sent = parseVendorJson(data);
    if (!isObject(sent)) return null;
    switch (sent.type) {
      case 'message_start':
        return this.#start(isObject(sent.message) ? sent.message : {});
      case 'content_block_start':
        return this.#open(sent.index, isObject(sent.content_block) ? sent.content_block : {});
      case 'content_block_delta':
        return this.#add(sent.index, isObject(sent.delta) ? sent.delta : {});
      case 'content_block_stop':
        return this.#thoughtPieces(this.#thoughts.close(sent.index));
      case 'message_delta':
        return this.#finish(isObject(sent.delta) ? sent.delta : {}, sent.usage);
      case 'message_stop':
        return [...this.#usagePieces(), { kind: 'end' }];
      case 'error':
        return [{ kind: 'failed', failure: errorInside(this.#call, sent, readAnthropicError) }];
      default:
        return [];
    }
  }

  #start({ id, model, usage }: WireObject): ChatPiece[] {
    this.#base = { id, object: 'chat.completion.chunk', created: secondsNow(), model };
    this.#remember(usage);
    // The input is known from the start: a stream that breaks has used that at least.
    return [this.#chunk({ role: 'assistant', content: '' }, false), ...this.#usagePieces({ isPartial: true })];
  }

  #open(index: unknown, block: WireObject): ChatPiece[] {
    if (block.type === 'text' && typeof block.text === 'string' && block.text !== '')
      return [this.#chunk({ content: block.text })];
    if (block.type !== 'tool_use') return this.#thoughtPieces(this.#thoughts.open(index, block));
    if (block.name === this.#asText) {
      this.#calls.set(index, null);
      return [];
    }
    const number = [...this.#calls.values()].filter((call) => call !== null).length;
    this.#calls.set(index, number);
    const opened = { index: number, id: block.id, type: 'function', function: { name: block.name, arguments: '' } };
    return [this.#chunk({ tool_calls: [opened] })];
  }

  #add(index: unknown, delta: WireObject): ChatPiece[] {
    const { type, text, thinking, partial_json: json } = delta;
    if (type === 'thinking_delta' || type === 'signature_delta') this.#thoughts.add(index, delta);
    if (type === 'text_delta' && text) return [this.#chunk({ content: text })];
    if (type === 'thinking_delta' && thinking) return [this.#chunk({ reasoning_content: thinking })];
    if (type !== 'input_json_delta' || !json) return [];
    // Of a block that nobody has opened it is not known what it is.
    if (!this.#calls.has(index)) return [];
    const number = this.#calls.get(index) ?? null;
    const called = [{ index: number, function: { arguments: json } }];
    return [this.#chunk(number === null ? { content: json } : { tool_calls: called })];
  }

  #thoughtPieces(thoughts: readonly WireObject[]): ChatPiece[] {
    return thoughts.length === 0 ? [] : [this.#chunk({ thinking_blocks: thoughts })];
  }

  #finish({ stop_reason: reason }: WireObject, usage: unknown): ChatPiece[] {
    this.#remember(usage);
    if (reason == null) return [];
    const isAnswer = [...this.#calls.values()].includes(null);
    // The figures that come with why it ends are its last.
    return [this.#chunk({}, false, finishOf(reason, isAnswer)), ...this.#usagePieces()];
  }

  /** Later figures are of the whole answer, and may leave out what has not changed. */
  #remember(usage: unknown): void {
    if (isObject(usage)) this.#usage = { ...this.#usage, ...usage };
  }

  #usagePieces(how: { readonly isPartial?: true } = {}): ChatPiece[] {
    const usage = usageOf(this.#usage);
    return usage === null ? [] : [{ kind: 'usage', usage, ...how }];
  }

  #chunk(delta: WireObject, hasContent = true, finish: string | null = null): ChatPiece {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { kind: 'chunk', chunk: { ...this.#base, choices }, hasContent };
  }
}
