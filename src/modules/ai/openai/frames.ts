// Server-sent events of a chat, on either wire: pieces as they come, the last one with the cost of the call. A failure is sent as one piece, and
// then the stream ends.

import { errorOf } from '../../../kit/openai-wire.ts';
import type { WireObject } from '../../../lib/chat/body.ts';
import { commentText, eventText } from '../../../lib/event-stream.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import type { ChatEnd, ChatEvent } from '../calls/chat-event.ts';

/** How a wire tells one chat. */
export interface ChatWire {
  /** Sent whenever nothing else has been for a while. */
  readonly beat: string;
  /** Beside those that every answer of a model has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Frames of a stream. */
  chunk(chunk: WireObject): Iterable<string>;
  end(end: ChatEnd, metadata: object): Iterable<string>;
  failureFrames(failure: Problem, metadata: object | null): Iterable<string>;
  /** The answer in one piece. */
  whole(end: ChatEnd, metadata: object): object;
}

export interface Framing {
  /** Nothing has come for so long that the headers go out alone. */
  readonly isLate: boolean;
  endMetadata(end: ChatEnd): object;
  failureMetadata(): object | null;
}

export async function* framesOf(
  wire: ChatWire,
  first: Promise<IteratorResult<ChatEvent, void>>,
  events: AsyncGenerator<ChatEvent, void>,
  { isLate, endMetadata, failureMetadata }: Framing,
): AsyncGenerator<string, void> {
  try {
    if (isLate) yield wire.beat;
    for (let next = await first; next.done !== true; next = await events.next()) {
      const event = next.value;
      // Handed on one by one: `yield*` would wait several times for each.
      if (event.kind === 'chunk') for (const frame of wire.chunk(event.chunk)) yield frame;
      else if (event.kind === 'end') yield* wire.end(event, endMetadata(event));
    }
  } catch (error) {
    const isOurs = error instanceof Problem;
    yield* wire.failureFrames(isOurs ? error : problem('INTERNAL_ERROR'), failureMetadata());
    if (!isOurs) throw error;
  } finally {
    await events.return();
  }
}

/** The wire of chat/completions: a stream ends with [DONE]. */
export class CompletionWire implements ChatWire {
  readonly beat = commentText('waiting');
  readonly headers = {};
  readonly #showsUsage: boolean;
  /** The chunk that says why the answer ends waits: what it cost is told in it. */
  #held: WireObject | null = null;
  #head: WireObject = {};

  /** `showsUsage`: the client has asked for a chunk of usage; it is the last then. */
  constructor(showsUsage: boolean) {
    this.#showsUsage = showsUsage;
  }

  *chunk(chunk: WireObject): Iterable<string> {
    if (this.#held !== null) yield frame(this.#held);
    this.#head = chunk;
    this.#held = !this.#showsUsage && isLast(chunk) ? chunk : null;
    if (this.#held === null) yield frame(chunk);
  }

  *end({ usage }: ChatEnd, metadata: object): Iterable<string> {
    const none = { ...this.#head, choices: [] };
    const last = this.#showsUsage ? { ...none, usage } : (this.#held ?? none);
    yield frame({ ...last, service_metadata: metadata });
    yield eventText({ data: '[DONE]' });
  }

  *failureFrames(failure: Problem, metadata: object | null): Iterable<string> {
    yield frame({ error: errorOf(failure, failure.param ?? null), service_metadata: metadata });
  }

  whole({ completion }: ChatEnd, metadata: object): object {
    return { ...completion, service_metadata: metadata };
  }
}

function frame(body: WireObject): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function isLast({ choices }: WireObject): boolean {
  return Array.isArray(choices) && choices.some((choice) => choice?.finish_reason != null);
}
