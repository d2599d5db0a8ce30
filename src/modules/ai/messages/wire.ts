// Output of a chat on Anthropic's Messages wire: events that open, fill and close blocks, and a message of all blocks. Events of vendors that
// speak the wire go out as they came; the last one before the end waits until it is known what the call cost.
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { eventText } from '../../../lib/event-stream.ts';
import { GrowingText } from '../../../lib/growing-text.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import type { ChatEnd } from '../calls/chat-event.ts';
import { isMessageEvent } from '../calls/own-wires.ts';
import { RESPONSE_CHARACTERS_FREE, RESPONSE_CHARACTERS_MAX } from '../limits.ts';
import type { ChatWire } from '../openai/frames.ts';
import { errorBody } from './errors.ts';
import { isMessage, messageUsage } from './own-wire.ts';

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

const OPENED = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
} as const;

/** A tool call of the vendor, by its number there. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: GrowingText;
  state: 'waits' | 'open' | 'closed';
}

type OpenBlock = keyof typeof OPENED | Call;

export class MessageWire implements ChatWire {
  readonly beat = eventText({ event: 'ping', data: '{"type":"ping"}' });
  readonly headers: Readonly<Record<string, string>>;
  readonly #requestId: string;
  readonly #hold: (bytes: number) => void;
  readonly #calls = new Map<number, Call>();
  #head: WireObject | null = null;
  /** Of a vendor that speaks this wire: why it ends. */
  #held: WireObject | null = null;
  /** What kind of block is open; null: none is. */
  #open: OpenBlock | null = null;
  #blocks = 0;
  #finish: unknown = null;
  #characters = 0;
  #counted = RESPONSE_CHARACTERS_FREE;

  /** `hold`: further bytes of it are kept until its end; may throw. */
  constructor(requestId: string, hold: (bytes: number) => void) {
    this.headers = { 'request-id': requestId };
    this.#requestId = requestId;
    this.#hold = hold;
  }

  *chunk(chunk: WireObject): Iterable<string> {
    if (chunk.choices === undefined) {
      yield* this.#passOn(chunk);
      return;
    }
    yield* this.#begin(chunk);
    const [choice] = objectsOf(chunk.choices);
    if (choice === undefined) return;
    const delta = isObject(choice.delta) ? choice.delta : {};
    yield* this.#say('thinking', delta.reasoning_content ?? delta.reasoning);
    yield* this.#say('text', delta.content);
    yield* this.#say('text', delta.refusal);
    for (const call of objectsOf(delta.tool_calls)) yield* this.#call(call);
    this.#finish = choice.finish_reason ?? this.#finish;
  }

  /** An event of a vendor that speaks this wire. */
  *#passOn(event: WireObject): Iterable<string> {
    if (!isMessageEvent(event)) return;
    if (this.#held !== null) yield frame(this.#held);
    this.#held = event.type === 'message_delta' ? event : null;
    if (this.#held === null) yield frame(event);
  }

  *end({ completion, usage }: ChatEnd, metadata: object): Iterable<string> {
    if (isMessage(completion)) {
      const { stop_reason, stop_sequence = null } = completion;
      const held = this.#held ?? { type: 'message_delta', delta: { stop_reason, stop_sequence } };
      yield frame({ ...held, usage: usageWith(completion.usage, metadata) });
    } else {
      yield* this.#begin(completion);
      yield* this.#closeAll();
      const delta = { stop_reason: this.#reason, stop_sequence: null };
      yield frame({ type: 'message_delta', delta, usage: usageWith(messageUsage(usage), metadata) });
    }
    yield frame({ type: 'message_stop' });
  }

  *failureFrames(failure: Problem, metadata: object | null): Iterable<string> {
    yield frame({ ...errorBody(failure, this.#requestId, metadata), type: 'error' });
  }

  whole({ completion, usage }: ChatEnd, metadata: object): object {
    if (isMessage(completion)) return { ...completion, usage: usageWith(completion.usage, metadata) };
    const [choice] = objectsOf(completion.choices);
    const said: WireObject = isObject(choice?.message) ? choice.message : {};
    this.#finish = choice?.finish_reason;
    const calls = objectsOf(said.tool_calls).map((call, i) => ({ ...this.#newUse(call, i), input: inputOf(call) }));
    const content = [
      ...textBlocks('thinking', said.reasoning_content ?? said.reasoning),
      ...textBlocks('text', said.content),
      ...textBlocks('text', said.refusal),
      ...calls,
    ];
    return {
      ...this.#message(completion),
      content,
      stop_reason: this.#reason,
      usage: usageWith(messageUsage(usage), metadata),
    };
  }

  get #reason(): string {
    const reason = REASONS[String(this.#finish)] ?? 'end_turn';
    return reason === 'end_turn' && this.#calls.size > 0 ? 'tool_use' : reason;
  }

  *#begin(head: WireObject): Iterable<string> {
    if (this.#head !== null) return;
    this.#head = head;
    // What went in is known at the end.
    const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    yield frame({ type: 'message_start', message: { ...this.#message(head), usage } });
  }

  #message({ id, model }: WireObject): WireObject {
    const named = `msg_${id ?? this.#requestId}`;
    return {
      id: named,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
  }

  *#say(kind: keyof typeof OPENED, words: unknown): Iterable<string> {
    if (typeof words !== 'string' || words === '') return;
    if (this.#open !== kind) {
      yield* this.#closeOpen();
      yield* this.#openBlock(kind, OPENED[kind]);
    }
    yield this.#add({ type: `${kind}_delta`, [kind]: words });
  }

  /** Blocks come one after the other here; of calls that a vendor tells side by side, the later ones wait. */
  *#call(told: WireObject): Iterable<string> {
    const number = Number(told.index ?? this.#calls.size);
    let call = this.#calls.get(number);
    if (call === undefined) {
      const { id, name } = this.#newUse(told, number);
      const open = this.#open;
      const waits = typeof open === 'object' && open !== null && !isWhole(String(open.input));
      call = { id: String(id), name: String(name), input: new GrowingText(), state: waits ? 'waits' : 'open' };
      this.#calls.set(number, call);
      if (!waits) yield* this.#openCall(call);
    }
    const { arguments: piece } = isObject(told.function) ? told.function : ({} as WireObject);
    if (typeof piece !== 'string' || piece === '') return;
    if (call.state === 'closed')
      throw problem('VENDOR_DOWN', {
        message: 'The vendor adds to a tool call that was whole. The answer is not complete.',
      });
    this.#count(piece.length);
    call.input.add(piece);
    if (call.state === 'open') yield this.#add({ type: 'input_json_delta', partial_json: piece });
  }

  #newUse({ id, function: called }: WireObject, number: number): WireObject {
    const { name = '' } = isObject(called) ? called : ({} as WireObject);
    return { type: 'tool_use', id: id ?? `toolu_${number}`, name, input: {} };
  }

  *#openCall(call: Call): Iterable<string> {
    yield* this.#closeOpen();
    call.state = 'open';
    yield* this.#openBlock(call, { type: 'tool_use', id: call.id, name: call.name, input: {} });
  }

  *#openBlock(kind: OpenBlock, block: object): Iterable<string> {
    this.#open = kind;
    yield frame({ type: 'content_block_start', index: this.#blocks, content_block: block });
  }

  #add(delta: object): string {
    return frame({ type: 'content_block_delta', index: this.#blocks, delta });
  }

  *#closeOpen(): Iterable<string> {
    if (this.#open === null) return;
    if (typeof this.#open === 'object') this.#open.state = 'closed';
    this.#open = null;
    yield frame({ type: 'content_block_stop', index: this.#blocks++ });
  }

  *#closeAll(): Iterable<string> {
    for (const call of this.#calls.values()) {
      if (call.state !== 'waits') continue;
      yield* this.#openCall(call);
      const input = String(call.input);
      if (input !== '') yield this.#add({ type: 'input_json_delta', partial_json: input });
    }
    yield* this.#closeOpen();
  }

  /** Inputs of calls are kept to their end. */
  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > RESPONSE_CHARACTERS_MAX)
      throw problem('VENDOR_DOWN', { message: 'The vendor answers without an end. The answer is not complete.' });
    while (this.#characters > this.#counted) {
      this.#hold(RESPONSE_CHARACTERS_FREE);
      this.#counted += RESPONSE_CHARACTERS_FREE;
    }
  }
}

function frame(event: WireObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function usageWith(usage: unknown, metadata: object): object {
  return { ...(isObject(usage) ? usage : {}), service_metadata: metadata };
}

function textBlocks(kind: keyof typeof OPENED, words: unknown): WireObject[] {
  return typeof words === 'string' && words !== '' ? [{ ...OPENED[kind], [kind]: words }] : [];
}

function inputOf({ function: called }: WireObject): unknown {
  const { arguments: text } = isObject(called) ? called : ({} as WireObject);
  const read = parse(String(text || '{}'));
  return isObject(read) ? read : {};
}

function isWhole(json: string): boolean {
  return json === '' || parse(json) !== undefined;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
