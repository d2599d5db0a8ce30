// One request on a pool and its answer. Time, bytes and interim answers are bounded here, however the bytes are used.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { connectTimedOut, exchangeFailed, OutboundError } from './failure.ts';
import { outboundLimits } from './limits.ts';
import type { HttpMethod } from './port.ts';

export interface Request {
  readonly method: HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
  /** The request must be on a socket by then, else nothing of it is ever sent. */
  readonly connectMs: number;
  /** From the last byte sent to the answer's head. */
  readonly firstByteMs: number;
  /** Between two pieces of the answer, or of the request's body. */
  readonly idleMs: number;
  readonly answerBytesMax: number;
  /** Aborts with an OutboundError. */
  readonly signal: AbortSignal;
}

/** What takes the answer. */
export interface Sink {
  begin(status: number, headers: IncomingHttpHeaders): void;
  /** Answers whether it wants more at once; else `resume` of its flow asks for it. */
  data(chunk: Buffer): boolean;
  /** Once, and nothing afterwards. Before `begin` there is always an error. */
  end(error: OutboundError | null): void;
}

/** What the sink may do meanwhile. */
export interface Flow {
  /** True as soon as something of the request may have reached the receiver. */
  readonly sent: boolean;
  resume(): void;
  /** Ends the exchange; the socket is closed. */
  stop(): void;
}

/** Sends the request; all that comes of it goes to the sink. */
export function exchange(pool: Pool, request: Request, sink: Sink): Flow {
  request.signal.throwIfAborted();
  const under = new Exchange(request, sink);
  pool.dispatch(
    {
      method: request.method,
      path: request.path,
      // No answer is decompressed: a bomb is just its bytes.
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    under,
  );
  return under;
}

class Exchange implements Dispatcher.DispatchHandler, Flow {
  readonly #request: Request;
  readonly #sink: Sink;
  #timer: NodeJS.Timeout;
  #ended = false;
  #reason: Error | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #begun = false;
  #isPaused = false;
  #interimAnswers = 0;
  #bytes = 0;

  constructor(request: Request, sink: Sink) {
    this.#request = request;
    this.#sink = sink;
    this.#timer = setTimeout(() => this.#end(connectTimedOut()), request.connectMs);
    request.signal.addEventListener('abort', this.#onAbort);
  }

  get sent(): boolean {
    return this.#controller !== undefined;
  }

  resume(): void {
    if (this.#ended || !this.#isPaused) return;
    this.#isPaused = false;
    this.#within(this.#request.idleMs, STOPPED);
    this.#controller?.resume();
  }

  stop(): void {
    this.#end(new OutboundError('aborted', 'The answer was not wanted any more.'));
  }

  // Also when the time ran out while the socket was still opening: then nothing is ever written to it.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#reason !== undefined) {
      controller.abort(this.#reason);
      return;
    }
    this.#controller = controller;
    this.#within(this.#request.firstByteMs, NO_ANSWER);
  }

  onBodySent(): void {
    if (!this.#begun) this.#within(Math.max(this.#request.idleMs, this.#request.firstByteMs), NO_ANSWER);
  }

  onRequestSent(): void {
    if (!this.#begun) this.#within(this.#request.firstByteMs, NO_ANSWER);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > outboundLimits.interimAnswersMax) this.#end(tooManyInterim());
      return;
    }
    this.#begun = true;
    this.#within(this.#request.idleMs, STOPPED);
    this.#sink.begin(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#request.answerBytesMax) {
      this.#end(new OutboundError('protocol', `The answer has more than ${this.#request.answerBytesMax} bytes.`));
      return;
    }
    const wantsMore = this.#sink.data(chunk);
    if (this.#isPaused) return;
    if (wantsMore) {
      // Since the head came it is the timer of silence, which is cheaper begun again than made anew.
      this.#timer.refresh();
      return;
    }
    this.#isPaused = true;
    // The receiver is not to blame for how long its answer is not read; the whole time bounds that.
    clearTimeout(this.#timer);
    controller.pause();
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(exchangeFailed(error));
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#request.signal;
    this.#end(reason instanceof OutboundError ? reason : new OutboundError('aborted', 'The attempt was ended.'));
  };

  #within(ms: number, message: string): void {
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(() => this.#end(new OutboundError('timeout', message)), ms);
  }

  // Settles at once: while the socket is opening there is nothing yet that undici could abort.
  #end(reason: OutboundError): void {
    if (this.#ended) return;
    this.#reason = reason;
    this.#settle(reason);
    this.#controller?.abort(reason);
  }

  #settle(error: OutboundError | null): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#sink.end(error);
  }
}

const NO_ANSWER = 'The receiver did not answer in time.';
const STOPPED = 'The receiver stopped in the midst of its answer.';

function tooManyInterim(): OutboundError {
  return new OutboundError('protocol', 'The receiver sent too many interim answers (status 1xx).');
}
