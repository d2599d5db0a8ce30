// The response of one request. It signals when it is written: its call's slot is free then, whether or not the client reads it.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** A connection that a request asks to leave HTTP with. Its answer is the last one in HTTP. */
export interface Upgrade {
  /** What came right behind the request. */
  readonly head: Buffer;
  /** Hands the connection over, in place of an answer. */
  take(): Socket;
}

export class Answer<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /** Whose: the account, else the address. */
  owner = '';
  /** How long it waited for its turn to begin. */
  waitedMs = 0;
  /** Its request brings a body that may take its time, as long as it comes. */
  takesLong = false;
  /** Its client waits to be told to send its body, and has not been. */
  asksToGoOn = false;
  /** Null: its request is an ordinary one. */
  upgrade: Upgrade | null = null;
  /** What the call occupied. */
  occupied: { release(): void } | null = null;
  /** Told once, when the answer is written. */
  written: { add(answer: Answer): void } | null = null;

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk as never, encoding as never, callback as never);
    this.written?.add(this);
    this.written = null;
    this.occupied?.release();
    this.occupied = null;
    return this;
  }
}

export function answerOf({ raw }: FastifyReply): Answer {
  if (raw instanceof Answer) return raw;
  throw new Error('the server answers with something else than Answer');
}

/** Calls `listener` once, when the answer is out or its client has left; at once when it is over already: an event that has fired does not fire again. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed || response.closed) listener();
  else response.once('close', listener);
}
