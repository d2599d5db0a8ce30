// Answers of vendors that speak the wire of messages: a message put together from its events, and the events of a message.
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { GrowingText } from '../../../lib/growing-text.ts';

/** Whether it is a message, not a completion. */
export function isMessage({ type }: WireObject): boolean {
  return type === 'message';
}

interface Block {
  /** As it was opened. */
  readonly opened: WireObject;
  /** What was added to its texts, by member; `partial_json` is that of its input. */
  readonly texts: Map<string, GrowingText>;
  readonly citations: unknown[];
}

/** Takes up the events of one message. */
export class MessageAssembly {
  readonly #blocks = new Map<unknown, Block>();
  #message: WireObject = {};
  #usage: WireObject = {};

  add({ type, index, message, content_block: block, delta, usage, ...further }: WireObject): void {
    if (type === 'message_start' && isObject(message)) {
      this.#message = { ...message };
      this.#remember(message.usage);
    } else if (type === 'content_block_start' && isObject(block))
      this.#blocks.set(index, { opened: block, texts: new Map(), citations: [] });
    else if (type === 'content_block_delta' && isObject(delta)) this.#grow(index, delta);
    else if (type === 'message_delta') {
      this.#message = { ...this.#message, ...further, ...(isObject(delta) ? delta : {}) };
      this.#remember(usage);
    }
  }

  message(): WireObject {
    const content = [...this.#blocks.values()].map(wholeBlock);
    return { ...this.#message, type: 'message', role: 'assistant', content, usage: this.#usage };
  }

  /** All that a model has written. */
  texts(): string[] {
    return [...this.#blocks.values()].flatMap(({ texts }) => [...texts.values()].map(String));
  }

  #grow(index: unknown, { type: _, citation, ...members }: WireObject): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    if (citation !== undefined) block.citations.push(citation);
    for (const [name, piece] of Object.entries(members)) {
      if (typeof piece !== 'string') continue;
      const text = block.texts.get(name) ?? new GrowingText(beginningOf(block.opened[name]));
      block.texts.set(name, text);
      text.add(piece);
    }
  }

  /** Later figures are of the whole answer, and may leave out what has not changed. */
  #remember(usage: unknown): void {
    if (isObject(usage)) this.#usage = { ...this.#usage, ...usage };
  }
}

function beginningOf(text: unknown): string {
  return typeof text === 'string' ? text : '';
}

function wholeBlock({ opened, texts, citations }: Block): WireObject {
  const { partial_json: json, ...said } = Object.fromEntries([...texts].map(([name, text]) => [name, String(text)]));
  return {
    ...opened,
    ...said,
    ...(json === undefined ? {} : { input: parseInput(json) }),
    ...(citations.length === 0 ? {} : { citations }),
  };
}

/** An input that was cut off is none. */
function parseInput(json: string): unknown {
  try {
    return JSON.parse(json || '{}');
  } catch {
    return {};
  }
}

/** The events of a stream that would end with the message, without its end. */
export function eventsOf(message: WireObject): WireObject[] {
  const { content, stop_reason, stop_sequence = null, usage, ...head } = message;
  const begun = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  return [
    { type: 'message_start', message: begun },
    ...objectsOf(content).flatMap(eventsOfBlock),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
  ];
}

function eventsOfBlock(block: WireObject, index: number): WireObject[] {
  const [opened, deltas] = piecesOf(block);
  return [
    { type: 'content_block_start', index, content_block: opened },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** A block as it is opened, and what is added to it. */
function piecesOf(block: WireObject): [WireObject, WireObject[]] {
  const { type, text, thinking, signature, input, citations } = block;
  if (type === 'text') {
    const quoted = objectsOf(citations).map((citation) => ({ type: 'citations_delta', citation }));
    return [
      { ...block, text: '', ...(quoted.length === 0 ? {} : { citations: [] }) },
      [{ type: 'text_delta', text }, ...quoted],
    ];
  }
  if (type === 'thinking') {
    const deltas = [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ];
    return [{ ...block, thinking: '', signature: '' }, deltas];
  }
  if (input === undefined) return [block, []];
  return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]];
}

/** Usage of a completion, as the wire tells it. */
export function messageUsage(usage: WireObject): WireObject {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const read = Number(details.cached_tokens ?? 0);
  const written = Number(details.cache_write_tokens ?? 0);
  return {
    input_tokens: Math.max(0, Number(usage.prompt_tokens ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: Number(usage.completion_tokens ?? 0),
  };
}
