// Conversion of stream chunks into one completion, and of a completion into chunks: a replay is answered in the form that it asks for.

import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { tokensIn } from '../../../lib/chat/token-counter.ts';
import { GrowingText } from '../../../lib/growing-text.ts';
import { KEPT_BYTES_MAX } from '../limits.ts';
import { MessageAssembly } from '../messages/own-wire.ts';
import type { AiUsage } from '../vendors/port.ts';
import { eventsOfAnswer, isMessageEvent, isOwnAnswer } from './own-wires.ts';

/** Of what is not kept any more, a token is taken to be so long. */
const CHARACTERS_PER_TOKEN = 4;
/** Counting more takes long; what comes after is taken to be like it. */
const COUNTED_CHARACTERS_MAX = 128 * 1024;

interface Choice {
  /** Fields of the message. */
  readonly message: Fields;
  readonly toolCalls: Map<number, ToolCall>;
  finishReason: unknown;
  /** By their name, such as `content`. */
  logprobs: Record<string, WireObject[]> | null;
}
interface ToolCall {
  readonly fields: Fields;
  readonly called: Fields;
}
/** Texts that come in pieces, in a GrowingText or a list; and what came whole. */
type Fields = Record<string, unknown>;

/** Of texts that come in pieces. */
const WHOLE_TEXTS = new Set(['role', 'id', 'type', 'name']);

/** Takes up a stream. Beyond what is kept of an answer it only counts. */
export class Assembly {
  readonly #choices = new Map<number, Choice>();
  #head: WireObject | null = null;
  /** Of a vendor that speaks the wire of messages. */
  #message: MessageAssembly | null = null;
  #characters = 0;

  add(chunk: WireObject): void {
    if (chunk.choices === undefined) {
      this.#addEvent(chunk);
      return;
    }
    this.#head ??= chunk;
    for (const sent of objectsOf(chunk.choices)) {
      const delta = objectOf(sent.delta);
      this.#characters += charactersIn(delta);
      const choice = this.#choice(Number(sent.index ?? 0));
      if (sent.finish_reason != null) choice.finishReason = sent.finish_reason;
      if (!this.isWhole) continue;
      if (isObject(sent.logprobs)) addLogprobs(choice, sent.logprobs);
      addDelta(choice, delta);
    }
  }

  /** Of another wire: a response comes whole at its end, so of its events only words count. */
  #addEvent(event: WireObject): void {
    if (isMessageEvent(event)) {
      this.#characters += charactersIn(objectOf(event.delta ?? event.content_block));
      this.#message ??= new MessageAssembly();
      if (this.isWhole) this.#message.add(event);
    } else if (typeof event.delta === 'string') this.add({ choices: [{ index: 0, delta: { content: event.delta } }] });
  }

  /** Whether all of it is here. */
  get isWhole(): boolean {
    return this.#characters <= KEPT_BYTES_MAX;
  }

  /** Counted, of an answer whose vendor does not say. */
  async tokens(): Promise<number> {
    const kept = [...this.#choices.values()].flatMap(({ message, toolCalls }) => [
      ...Object.entries(message).flatMap(([name, value]) =>
        name !== 'role' && (typeof value === 'string' || value instanceof GrowingText) ? [String(value)] : [],
      ),
      ...[...toolCalls.values()].map(({ called }) => `${called.name ?? ''} ${called.arguments ?? ''}`),
    ]);
    const text = [...kept, ...(this.#message?.texts() ?? [])].join('\n');
    const counted = text.slice(0, COUNTED_CHARACTERS_MAX);
    const tokens = (await tokensIn(counted)) * (text.length / Math.max(1, counted.length));
    const further = Math.max(0, this.#characters - KEPT_BYTES_MAX);
    return Math.ceil(tokens + further / CHARACTERS_PER_TOKEN);
  }

  completion(): WireObject {
    if (this.#message !== null) return this.#message.message();
    const { id, created, choices: _, object: _object, ...further } = this.#head ?? {};
    const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([index, choice]) => wholeChoice(index, choice));
    return { id, object: 'chat.completion', created, ...further, choices };
  }

  #choice(index: number): Choice {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const choice = {
      message: { role: 'assistant', content: null },
      toolCalls: new Map(),
      finishReason: null,
      logprobs: null,
    };
    this.#choices.set(index, choice);
    return choice;
  }
}

/** About as many as its JSON has. */
function charactersIn(delta: WireObject): number {
  let characters = 0;
  for (const value of Object.values(delta)) {
    characters += typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
  }
  return characters;
}

function addDelta({ message, toolCalls }: Choice, delta: WireObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls') for (const call of objectsOf(value)) addToolCall(toolCalls, call);
    else if (value !== null) addField(message, name, value);
  }
}

function addToolCall(calls: Map<number, ToolCall>, { index, function: part, ...fields }: WireObject): void {
  const at = Number(index ?? calls.size);
  const call = calls.get(at) ?? { fields: {}, called: {} };
  calls.set(at, call);
  for (const [name, value] of Object.entries(fields)) if (value != null) call.fields[name] = value;
  for (const [name, value] of Object.entries(objectOf(part))) if (value != null) addField(call.called, name, value);
}

function addField(fields: Fields, name: string, value: unknown): void {
  const before = fields[name];
  if (typeof value === 'string' && !WHOLE_TEXTS.has(name)) {
    if (before instanceof GrowingText) before.add(value);
    else fields[name] = new GrowingText(value);
  } else if (Array.isArray(value) && Array.isArray(before)) for (const item of value) before.push(item);
  // A list of its own: the piece's goes to the client.
  else fields[name] = Array.isArray(value) ? [...value] : value;
}

function addLogprobs(choice: Choice, sent: WireObject): void {
  choice.logprobs ??= {};
  for (const [name, items] of Object.entries(sent)) {
    const known = choice.logprobs[name] ?? [];
    choice.logprobs[name] = known;
    for (const item of objectsOf(items)) known.push(item);
  }
}

/** As the wire tells them. */
function wireFields(fields: Fields): WireObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof GrowingText ? String(value) : value]),
  );
}

function wholeChoice(index: number, { message, toolCalls, finishReason, logprobs }: Choice): WireObject {
  const calls = [...toolCalls]
    .sort(([a], [b]) => a - b)
    .map(([, { fields, called }]) => ({ ...fields, function: wireFields(called) }));
  const whole = calls.length === 0 ? wireFields(message) : { ...wireFields(message), tool_calls: calls };
  return { index, message: whole, logprobs, finish_reason: finishReason };
}

/** The same as a stream: what each choice says, then why it ends; of another wire its events. */
export function chunksOf(completion: WireObject): WireObject[] {
  if (isOwnAnswer(completion)) return eventsOfAnswer(completion);
  const { choices, usage: _, object: _object, ...head } = completion;
  const base = { ...head, object: 'chat.completion.chunk' };
  return objectsOf(choices).flatMap(({ index, message, logprobs, finish_reason }) => {
    const { tool_calls: calls, ...said } = objectOf(message);
    const numbered =
      calls === undefined ? {} : { tool_calls: objectsOf(calls).map((call, i) => ({ index: i, ...call })) };
    const delta = { ...said, ...numbered };
    return [
      { ...base, choices: [{ index, delta, logprobs: logprobs ?? null, finish_reason: null }] },
      { ...base, choices: [{ index, delta: {}, logprobs: null, finish_reason }] },
    ];
  });
}

/** As the wire tells it. */
export function usageOf(usage: AiUsage): WireObject {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

function objectOf(value: unknown): WireObject {
  return isObject(value) ? value : {};
}
