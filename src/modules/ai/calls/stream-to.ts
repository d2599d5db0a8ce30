// Publishes a model's answer to a realtime channel in pieces, so that a page reads it live and continues after a reload. A channel that cannot
// be published to is refused before the model is asked. Later failures end the publishing, not the answer.
import type { CallContext } from '../../../kit/services.ts';
import { isObject, type WireObject } from '../../../lib/chat/body.ts';
import { newId } from '../../../lib/ids.ts';
import { Problem } from '../../../problems/problem.ts';
import type { ChatEnd, ChatEvent } from './chat-event.ts';
import { textIn } from './own-wires.ts';

/** In place of `stream_to`. */
export const STREAM_HEADER = 'X-QM-Stream-To';
/** A piece gathers what is said in so long, and is cut at so many characters: a message takes 10 KiB. */
const PIECE_MS = 50;
const PIECE_CHARACTERS_MAX = 2_000;

/** Throws what realtime.publish refuses the first event with. */
export async function* publishedTo(
  ctx: CallContext,
  channel: string,
  events: AsyncGenerator<ChatEvent, void>,
): AsyncGenerator<ChatEvent, void> {
  const pieces = new Pieces(ctx, channel);
  try {
    await pieces.begin();
    for await (const event of events) {
      if (event.kind === 'chunk') pieces.add(event.chunk);
      else if (event.kind === 'end') await pieces.end('ai.end', endOf(event));
      yield event;
    }
  } catch (error) {
    const { code, message } = error instanceof Problem ? error : { code: 'INTERNAL_ERROR', message: '' };
    await pieces.end('ai.failed', { code, message });
    throw error;
  } finally {
    // Whoever does not read to the end has left.
    await pieces.end('ai.failed', { code: 'CLIENT_CLOSED_REQUEST', message: 'The caller disconnected.' });
    await events.return();
  }
}

/** The channel that an answer is published to, as the body or the header names it; null: none. */
export function channelOf(inBody: string | null, headers: Readonly<Record<string, unknown>>): string | null {
  const sent = headers[STREAM_HEADER.toLowerCase()];
  return inBody ?? (typeof sent === 'string' && sent !== '' ? sent : null);
}

class Pieces {
  readonly #ctx: CallContext;
  readonly #channel: string;
  #text = '';
  #index = 0;
  /** What is being published; pieces go one after the other. */
  #going: Promise<void> | null = null;
  #isOver = false;

  constructor(ctx: CallContext, channel: string) {
    this.#ctx = ctx;
    this.#channel = channel;
  }

  async begin(): Promise<void> {
    try {
      await this.#publish('ai.start', {});
    } catch (error) {
      this.#isOver = true;
      throw error instanceof Problem && error.param === 'channel' ? withStreamToParam(error) : error;
    }
  }

  add(chunk: WireObject): void {
    this.#text += textOf(chunk);
    if (this.#text !== '' && !this.#isOver) this.#going ??= this.#publishAll();
  }

  /** Once: what is left, and then how it ended. */
  async end(event: 'ai.end' | 'ai.failed', data: object): Promise<void> {
    await this.#going;
    if (this.#isOver) return;
    await this.#publishAll(0);
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#publish(event, data).catch((error: unknown) => this.#fail(error));
  }

  async #publishAll(waitMs = PIECE_MS): Promise<void> {
    try {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      while (this.#text !== '' && !this.#isOver) {
        const text = this.#text.slice(0, PIECE_CHARACTERS_MAX);
        this.#text = this.#text.slice(text.length);
        await this.#publish('ai.delta', { index: this.#index, text });
        this.#index += 1;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#going = null;
    }
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    const { code } = error instanceof Problem ? error : { code: 'INTERNAL_ERROR' };
    if (code === 'INTERNAL_ERROR') this.#ctx.core.log.error({ err: error }, 'an answer could not be published');
    this.#ctx.warnings.push(`The answer was not published to the end: realtime.publish failed with ${code}.`);
  }

  async #publish(event: string, data: object): Promise<void> {
    const message = { channel: this.#channel, event, data: { request_id: this.#ctx.requestId, ...data } };
    // A call that is repeated publishes anew: what a model says is another text each time.
    await this.#ctx.invoke('realtime.publish', message, { step: newId('piece_') });
  }
}

/** The answer's text, of its first choice. */
function textOf(chunk: WireObject): string {
  if (chunk.choices === undefined) return textIn(chunk);
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
  const delta = isObject(choice) && isObject(choice.delta) ? choice.delta.content : null;
  return typeof delta === 'string' ? delta : '';
}

function endOf({ completion, usage }: ChatEnd): object {
  const [choice] = Array.isArray(completion.choices) ? completion.choices : [];
  const reason = isObject(choice) ? choice.finish_reason : (completion.stop_reason ?? null);
  return { model: completion.model, finish_reason: reason, usage };
}

function withStreamToParam(error: Problem): Problem {
  const message = error.message.replaceAll('channel', 'stream_to');
  return new Problem(error.code, error.entry, { message, param: 'stream_to' });
}
