// Output of a chat on the responses wire: events that open, fill and close items, and a response of all items. An answer in one piece is the
// response that the events of its chunks end with.
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { commentText, eventText } from '../../../lib/event-stream.ts';
import { GrowingText } from '../../../lib/growing-text.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { chunksOf } from '../calls/assemble.ts';
import type { ChatEnd } from '../calls/chat-event.ts';
import { RESPONSE_CHARACTERS_FREE, RESPONSE_CHARACTERS_MAX } from '../limits.ts';
import type { ChatWire } from '../openai/frames.ts';
import { isResponse } from './own-wire.ts';

/** How each kind of words is told: the item, the part of it, its member with the words, the event. */
const told = {
  text: { item: 'message', id: 'msg', part: 'output_text', member: 'text', event: 'response.output_text' },
  refusal: { item: 'message', id: 'msg', part: 'refusal', member: 'refusal', event: 'response.refusal' },
  reasoning: { item: 'reasoning', id: 'rs', part: 'reasoning_text', member: 'text', event: 'response.reasoning_text' },
} as const;

interface Item {
  readonly kind: keyof typeof told | 'call';
  readonly index: number;
  /** Its fields but what grows. */
  readonly fields: WireObject & { readonly id: string };
  readonly words: GrowingText;
  status: 'in_progress' | 'completed' | 'incomplete';
}

/** Why an answer ends before its end. */
const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

export class ResponseWire implements ChatWire {
  readonly beat = commentText('waiting');
  readonly headers = {};
  readonly #echo: WireObject;
  readonly #requestId: string;
  readonly #hold: (bytes: number) => void;
  readonly #items: Item[] = [];
  readonly #calls = new Map<number, Item>();
  #head: WireObject | null = null;
  /** As a vendor that speaks this wire has told it last; null: none of these answers. */
  #own: WireObject | null = null;
  #finish: unknown = null;
  #characters = 0;
  #counted = RESPONSE_CHARACTERS_FREE;
  #sequence = 0;

  /** `echo`: what the response tells again of its request. `hold`: further bytes of it are kept until its end; may throw. */
  constructor(echo: WireObject, requestId: string, hold: (bytes: number) => void) {
    this.#echo = echo;
    this.#requestId = requestId;
    this.#hold = hold;
  }

  *chunk(chunk: WireObject): Iterable<string> {
    if (chunk.choices === undefined) {
      yield this.#passOn(chunk);
      return;
    }
    yield* this.#begin(chunk);
    const [choice] = objectsOf(chunk.choices);
    if (choice === undefined) return;
    const delta = isObject(choice.delta) ? choice.delta : {};
    yield* this.#say('reasoning', delta.reasoning_content ?? delta.reasoning);
    yield* this.#say('text', delta.content);
    yield* this.#say('refusal', delta.refusal);
    for (const call of objectsOf(delta.tool_calls)) yield* this.#call(call);
    this.#finish = choice.finish_reason ?? this.#finish;
  }

  /** An event of a vendor that speaks this wire. */
  #passOn(event: WireObject): string {
    if (isObject(event.response)) this.#own = event.response;
    this.#sequence = Number(event.sequence_number ?? this.#sequence) + 1;
    return eventText({ event: String(event.type), data: JSON.stringify(event) });
  }

  *end({ completion, usage }: ChatEnd, metadata: object): Iterable<string> {
    if (isResponse(completion)) {
      const type = completion.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
      yield this.#frame(type, { response: withUsage(completion, usage, metadata) });
      return;
    }
    yield* this.#begin(completion);
    for (const item of this.#items) yield* this.#close(item);
    const response = this.#finalResponse(usage, metadata);
    yield this.#frame(`response.${this.#status}`, { response });
  }

  *failureFrames({ code, message, retryAfterMs }: Problem, metadata: object | null): Iterable<string> {
    const error = { code, message, ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }) };
    if (this.#own !== null) {
      const response = { ...this.#own, status: 'failed', error, service_metadata: metadata };
      yield this.#frame('response.failed', { response });
      return;
    }
    yield* this.#begin({});
    for (const item of this.#items) if (item.status === 'in_progress') item.status = 'incomplete';
    const response = this.#response({ status: 'failed', error, service_metadata: metadata });
    yield this.#frame('response.failed', { response });
  }

  whole({ completion, usage }: ChatEnd, metadata: object): object {
    if (isResponse(completion)) return withUsage(completion, usage, metadata);
    this.#head = completion;
    for (const chunk of chunksOf(completion)) exhaust(this.chunk(chunk));
    for (const item of this.#items) item.status = 'completed';
    return this.#finalResponse(usage, metadata);
  }

  *#begin(head: WireObject): Iterable<string> {
    if (this.#head !== null) return;
    this.#head = head;
    const response = this.#response({ status: 'in_progress' });
    yield this.#frame('response.created', { response });
    yield this.#frame('response.in_progress', { response });
  }

  *#say(kind: keyof typeof told, words: unknown): Iterable<string> {
    if (typeof words !== 'string' || words === '') return;
    let item = this.#items.at(-1);
    if (item?.kind !== kind || item.status !== 'in_progress') {
      if (item !== undefined && item.kind !== 'call') yield* this.#close(item);
      const { item: type, id } = told[kind];
      item = yield* this.#open(kind, id, { type, ...(type === 'message' ? { role: 'assistant' } : { summary: [] }) });
      yield this.#frame('response.content_part.added', { ...addressOf(item), part: partOf(kind, '') });
    }
    this.#grow(item, words);
    const logprobs = kind === 'text' ? { logprobs: [] } : {};
    yield this.#frame(`${told[kind].event}.delta`, { ...addressOf(item), delta: words, ...logprobs });
  }

  /** Calls grow side by side: they are closed at the end. */
  *#call({ index, id, function: called }: WireObject): Iterable<string> {
    const at = Number(index ?? this.#calls.size);
    const { name = '', arguments: words } = isObject(called) ? called : ({} as WireObject);
    let item = this.#calls.get(at);
    if (item === undefined) {
      const before = this.#items.at(-1);
      if (before !== undefined && before.kind !== 'call') yield* this.#close(before);
      item = yield* this.#open('call', 'fc', { type: 'function_call', call_id: id ?? `call_${at}`, name });
      this.#calls.set(at, item);
    }
    if (typeof words !== 'string' || words === '') return;
    this.#grow(item, words);
    const address = { item_id: item.fields.id, output_index: item.index };
    yield this.#frame('response.function_call_arguments.delta', { ...address, delta: words });
  }

  *#open(kind: Item['kind'], prefix: string, fields: WireObject): Generator<string, Item> {
    const index = this.#items.length;
    const item = {
      kind,
      index,
      fields: { id: `${prefix}_${this.#id}_${index}`, ...fields },
      words: new GrowingText(),
      status: 'in_progress',
    } as Item;
    this.#items.push(item);
    yield this.#frame('response.output_item.added', { output_index: index, item: itemOf(item, true) });
    return item;
  }

  #grow(item: Item, words: string): void {
    this.#characters += words.length;
    // All of one is told again at its end.
    if (this.#characters > RESPONSE_CHARACTERS_MAX)
      throw problem('VENDOR_DOWN', { message: 'The vendor answers without an end. The answer is not complete.' });
    while (this.#characters > this.#counted) {
      this.#hold(2 * RESPONSE_CHARACTERS_FREE);
      this.#counted += RESPONSE_CHARACTERS_FREE;
    }
    item.words.add(words);
  }

  *#close(item: Item): Iterable<string> {
    if (item.status !== 'in_progress') return;
    item.status = 'completed';
    const { kind, index, fields } = item;
    const words = String(item.words);
    if (kind === 'call') {
      const address = { item_id: fields.id, output_index: index, name: fields.name };
      yield this.#frame('response.function_call_arguments.done', { ...address, arguments: words });
    } else {
      const { event, member } = told[kind];
      const logprobs = kind === 'text' ? { logprobs: [] } : {};
      yield this.#frame(`${event}.done`, { ...addressOf(item), [member]: words, ...logprobs });
      yield this.#frame('response.content_part.done', { ...addressOf(item), part: partOf(kind, words) });
    }
    yield this.#frame('response.output_item.done', { output_index: index, item: itemOf(item) });
  }

  get #status(): 'completed' | 'incomplete' {
    return String(this.#finish) in INCOMPLETE ? 'incomplete' : 'completed';
  }

  #finalResponse(usage: WireObject, metadata: object): WireObject {
    const reason = INCOMPLETE[String(this.#finish)];
    const details = reason === undefined ? null : { reason };
    const outcome = { status: this.#status, incomplete_details: details };
    return this.#response({ ...outcome, usage: usageOf(usage), service_metadata: metadata });
  }

  get #id(): string {
    return String(this.#head?.id ?? this.#requestId);
  }

  #response(over: object): WireObject {
    const { created, model } = this.#head ?? {};
    return {
      id: `resp_${this.#id}`,
      object: 'response',
      created_at: created ?? Math.floor(Date.now() / 1_000),
      error: null,
      incomplete_details: null,
      ...this.#echo,
      ...optionalMember('model', model),
      store: false,
      previous_response_id: null,
      background: false,
      output: this.#items.map((item) => itemOf(item)),
      usage: null,
      ...over,
    };
  }

  #frame(type: string, fields: object): string {
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields });
    return eventText({ event: type, data });
  }
}

/** Of a vendor that speaks this wire. */
function withUsage(response: WireObject, usage: WireObject, metadata: object): WireObject {
  return { ...response, usage: response.usage ?? usageOf(usage), service_metadata: metadata };
}

function exhaust(frames: Iterable<string>): void {
  for (const _ of frames);
}

function optionalMember(name: string, value: unknown): WireObject {
  return value === undefined ? {} : { [name]: value };
}

function addressOf({ fields, index }: Item) {
  return { item_id: fields.id, output_index: index, content_index: 0 };
}

function partOf(kind: keyof typeof told, words: string): WireObject {
  const { part, member } = told[kind];
  return { type: part, [member]: words, ...(kind === 'text' ? { annotations: [], logprobs: [] } : {}) };
}

/** `isEmpty`: as it is opened. */
function itemOf({ kind, fields, words: grown, status }: Item, isEmpty = false): WireObject {
  const words = String(grown);
  const filled = kind === 'call' ? { arguments: words } : { content: isEmpty ? [] : [partOf(kind, words)] };
  return { ...fields, status, ...filled };
}

function usageOf(usage: WireObject): WireObject {
  const {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: read,
    completion_tokens_details: made,
  } = usage;
  const cached = isObject(read) ? (read.cached_tokens ?? 0) : 0;
  const reasoning = isObject(made) ? (made.reasoning_tokens ?? 0) : 0;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens,
  };
}
