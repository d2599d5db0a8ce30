// Reader of a stream of server-sent events, wherever its bytes are split: pieces are read as they arrive, and handed out one by one.
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { Pacer } from '../../../lib/pacer.ts';
import type { Refused } from '../../../vendors/call/port.ts';
import { refusedBy } from './asking.ts';
import type { AiCall, ChatPiece } from './port.ts';

/** Of one event. */
const EVENT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** While so many wait, the vendor is read no further. */
const WAITING_MAX = 64;
/** Of all streams of the process: in each what has come of one stream is read, understood, and written to its client. */
const turns = new Pacer(25);

export interface SentEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** What an event means; null: it is broken, and is left out. */
export type ReadEvent = (event: SentEvent) => readonly ChatPiece[] | null;

/**
 * A stream that ends without its end has failed. To be read to its last piece, or returned. No generator: with one a piece would take some
 * microseconds more, of which there are tens of thousands a second.
 */
export class Pieces implements AsyncIterableIterator<ChatPiece, undefined> {
  readonly #call: AiCall;
  readonly #body: Readable;
  readonly #read: ReadEvent;
  readonly #parser = createParser({
    onEvent: (event) => this.#take(event),
    maxBufferSize: EVENT_CHARACTERS_MAX,
  });
  readonly #text = new TextDecoder();
  readonly #waiting: ChatPiece[] = [];
  #awaited: ((next: IteratorResult<ChatPiece, undefined>) => void) | null = null;
  #waitsForTurn = false;
  /** More has come than is read before somebody takes what waits. */
  #isFull = false;
  /** Nothing comes after what waits. */
  #isOver = false;

  constructor(call: AiCall, body: Readable, read: ReadEvent) {
    this.#call = call;
    this.#body = body;
    this.#read = read;
    body.on('readable', () => this.#readInTurn());
    body.on('error', (error) => this.#fail(error));
    body.on('close', () => this.#fail(null));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<ChatPiece, undefined>> {
    const value = this.#waiting.shift();
    if (value === undefined) {
      if (this.#isOver) return Promise.resolve(OVER);
      return new Promise((resolve) => {
        this.#awaited = resolve;
      });
    }
    if (this.#waiting.length === 0 && this.#isFull) this.#readInTurn();
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorResult<ChatPiece, undefined>> {
    this.#waiting.length = 0;
    this.#end();
    this.#awaited?.(OVER);
    return Promise.resolve(OVER);
  }

  #readInTurn(): void {
    if (this.#waitsForTurn) return;
    if (turns.take()) {
      this.#readOn();
      return;
    }
    this.#waitsForTurn = true;
    turns.wait(this.#inTurn);
  }

  readonly #inTurn = (): void => {
    this.#waitsForTurn = false;
    this.#readOn();
  };

  /** All that has come. */
  #readOn(): void {
    this.#isFull = this.#waiting.length > WAITING_MAX;
    const bytes: Buffer | null = this.#isFull ? null : this.#body.read();
    if (bytes === null) return;
    try {
      this.#parser.feed(this.#text.decode(bytes, { stream: true }));
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(event: SentEvent): void {
    if (this.#isOver) return;
    const pieces = this.#read(event);
    if (pieces === null) this.#call.countDroppedLine();
    for (const piece of pieces ?? []) this.#give(piece);
  }

  #give(piece: ChatPiece): void {
    if (this.#isOver) return;
    if (piece.kind === 'end' || piece.kind === 'failed') this.#end();
    const awaited = this.#awaited;
    this.#awaited = null;
    if (awaited === null) this.#waiting.push(piece);
    else awaited({ done: false, value: piece });
  }

  #fail(error: unknown): void {
    const code = (error as { code?: unknown } | null)?.code;
    this.#give({
      kind: 'failed',
      failure: brokenAnswer(this.#call, code === 'timeout' || code === 'aborted' ? code : 'reset'),
    });
  }

  #end(): void {
    this.#isOver = true;
    turns.leave(this.#inTurn);
    this.#body.destroy();
  }
}

const OVER = { done: true, value: undefined } as const;

function brokenAnswer(call: AiCall, code: 'reset' | 'timeout' | 'aborted'): Refused {
  return refusedBy(call, { kind: 'failed', code, sent: true, message: '' }, null) as Refused;
}
