// One request on a pool and its answer, of which no more than a snippet is kept and no more than 64 KiB is read. Once a status has
// come the request counts as answered, whatever happens to the body.
import type { Dispatcher, Pool } from 'undici';
import { connectTimedOut, exchangeFailed, OutboundError } from './failure.ts';
import type { OutboundLimits } from './limits.ts';
import { snippetOf } from './snippet.ts';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly snippet: string;
}

export interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The request must be on a socket by then, else nothing of it is ever sent. */
  readonly connectMs: number;
  /** Aborts with an OutboundError. */
  readonly signal: AbortSignal;
}

/**
 * Sends a POST and reads the answer.
 * @throws OutboundError when no status came.
 */
export function exchange(pool: Pool, request: Request, limits: OutboundLimits): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.signal.throwIfAborted();
    const handler = new AnswerReader(request, limits, resolve, reject);
    pool.dispatch(
      {
        method: 'POST',
        path: request.path,
        // No answer is decompressed: a bomb is just its bytes.
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body,
      },
      handler,
    );
  });
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #limits: OutboundLimits;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: OutboundError) => void;
  readonly #signal: AbortSignal;
  readonly #connecting: NodeJS.Timeout;
  #ended: Error | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | null = null;
  #interimAnswers = 0;
  #bytes = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(
    { signal, connectMs }: Request,
    limits: OutboundLimits,
    resolve: (answer: Answer) => void,
    reject: (error: OutboundError) => void,
  ) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#connecting = setTimeout(() => this.#end(connectTimedOut()), connectMs);
    signal.addEventListener('abort', this.#onAbort);
  }

  // Also when the time ran out while the socket was still opening: then nothing is ever written to it.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#connecting);
    this.#controller = controller;
    if (this.#ended !== undefined) controller.abort(this.#ended);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > this.#limits.interimAnswersMax) controller.abort(tooManyInterim());
      return;
    }
    this.#status = status;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    const wanted = this.#limits.snippetBytesMax - this.#keptBytes;
    if (wanted > 0) {
      // Copied: a slice would keep the socket's whole chunk alive.
      const piece = Buffer.from(chunk.subarray(0, wanted));
      this.#kept.push(piece);
      this.#keptBytes += piece.length;
    }
    if (this.#bytes > this.#limits.answerBytesMax) controller.abort(new Error('enough of the answer is read'));
  }

  onResponseEnd(): void {
    this.#settle(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(error);
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#signal;
    this.#end(reason instanceof Error ? reason : new OutboundError('aborted', 'The attempt was ended.'));
  };

  // Settles at once: while the socket is opening there is nothing yet that undici could abort.
  #end(reason: Error): void {
    this.#ended = reason;
    this.#settle(reason);
    this.#controller?.abort(reason);
  }

  #settle(error: Error | undefined): void {
    clearTimeout(this.#connecting);
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (this.#status === 0) {
      this.#reject(exchangeFailed(error));
      return;
    }
    const { snippetBytesMax } = this.#limits;
    const snippet = snippetOf(Buffer.concat(this.#kept), snippetBytesMax, this.#bytes > this.#keptBytes);
    this.#resolve({ status: this.#status, retryAfter: this.#retryAfter, snippet });
  }
}

function tooManyInterim(): OutboundError {
  return new OutboundError('protocol', 'The receiver sent too many interim answers (status 1xx).');
}
