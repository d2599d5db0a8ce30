// Streams of this process: answers written piece by piece, no faster than the client reads them, and bodies read as they are consumed. However
// an answer ends, its producer is told, and may book what it has produced before the request ends.
import type { FastifyReply } from 'fastify';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { type Answer, answerOf, onClosed } from '../http/answer.ts';

type Piece = string | Uint8Array;

/** Those that are being written or read: a stop ends them. */
export class OpenStreams {
  readonly #open = new Set<() => void>();

  /** Ends them where they are. */
  end(): void {
    for (const end of this.#open) end();
  }

  /** The body; a stop fails it with SERVICE_UNAVAILABLE, which the client can still be told. */
  async *read(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    const iterator = body[Symbol.asyncIterator]();
    const reading = new Reading();
    const end = () => reading.end();
    this.#open.add(end);
    let next: IteratorResult<Buffer> | typeof LEFT = LEFT;
    try {
      for (;;) {
        next = await reading.until(iterator.next());
        if (next === LEFT) throw problem('SERVICE_UNAVAILABLE', { message: 'The service stops.', retryAfterMs: 1000 });
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      this.#open.delete(end);
      // Of a body that does not arrive, nothing comes back.
      if (next !== LEFT) await iterator.return?.();
    }
  }

  /**
   * Writes all pieces, headers before the first one. Throws what the first piece fails with; later failures cut the connection, so that
   * nobody takes half an answer for a whole one, and are thrown too. `beat`: written when nothing else has been for so long.
   */
  async write(
    reply: FastifyReply,
    pieces: AsyncIterable<Piece>,
    writeHead: () => void,
    beat?: RawAnswer['beat'],
  ): Promise<void> {
    const answer = answerOf(reply);
    const iterator = pieces[Symbol.asyncIterator]();
    const reading = new Reading();
    const end = () => reading.end();
    onClosed(answer, end);
    this.#open.add(end);
    const begin = () => {
      if (reply.sent) return;
      void reply.hijack();
      writeHead();
    };
    const beating =
      beat === undefined ? null : setInterval(() => sendHeartbeat(answer, begin, beat.text), beat.everyMs);
    try {
      let piece = await reading.until(iterator.next());
      if (piece !== LEFT) begin();
      else void reply.hijack();
      while (piece !== LEFT && piece.done !== true) {
        beating?.refresh();
        if (!answer.write(piece.value) && (await reading.until(waitForDrain(answer))) === LEFT) break;
        piece = await reading.until(iterator.next());
      }
      if (piece !== LEFT && piece.done === true) answer.end();
    } finally {
      if (beating !== null) clearInterval(beating);
      // Half an answer must not pass for a whole one.
      if (answer.headersSent && !answer.writableEnded) answer.destroy();
      this.#open.delete(end);
      await iterator.return?.();
    }
  }
}

const LEFT = Symbol('left');

/** Waits for one thing at a time, and no longer than somebody reads. */
class Reading {
  #isOver = false;
  #leave: (() => void) | null = null;

  end(): void {
    this.#isOver = true;
    this.#leave?.();
  }

  until<T>(promise: Promise<T>): Promise<T | typeof LEFT> {
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(LEFT);
      promise.then(resolve, reject);
      if (this.#isOver) resolve(LEFT);
    });
  }
}

/** Not to a client that has not read what came before: it sees that the connection lives. */
function sendHeartbeat(answer: Answer, begin: () => void, text: string): void {
  begin();
  if (!answer.writableNeedDrain && !answer.writableEnded && !answer.destroyed) answer.write(text);
}

function waitForDrain(answer: Answer): Promise<void> {
  return new Promise((resolve) => {
    answer.once('drain', resolve);
  });
}
