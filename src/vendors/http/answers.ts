// Consumers of an answer: one keeps a snippet of it, the other is a stream that its reader draws from.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Flow, Sink } from './exchange.ts';
import { exchangeFailed, OutboundError } from './failure.ts';

export interface SnippetAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly snippet: string;
}

/** Keeps the beginning. Once a status has come the request counts as answered, whatever happens to the body. */
export class SnippetSink implements Sink {
  readonly answer: Promise<SnippetAnswer>;
  readonly #bytesMax: number;
  readonly #settle: PromiseWithResolvers<SnippetAnswer>;
  #head: { readonly status: number; readonly retryAfter: string | null } | null = null;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#settle = Promise.withResolvers();
    this.answer = this.#settle.promise;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    const retryAfter: string | string[] | undefined = headers['retry-after'];
    this.#head = { status, retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null };
  }

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    const wanted = this.#bytesMax - this.#keptBytes;
    if (wanted > 0) {
      // Copied: a slice would keep the socket's whole chunk alive.
      const piece = Buffer.from(chunk.subarray(0, wanted));
      this.#kept.push(piece);
      this.#keptBytes += piece.length;
    }
    return true;
  }

  end(error: OutboundError | null): void {
    if (this.#head === null) {
      this.#settle.reject(error ?? exchangeFailed(null));
      return;
    }
    const snippet = snippetOf(Buffer.concat(this.#kept), this.#bytesMax, this.#bytes > this.#keptBytes);
    this.#settle.resolve({ ...this.#head, snippet });
  }
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Fulfilled when nothing more comes, also of a body that was destroyed. */
  readonly done: Promise<void>;
}

/** The answer's head as soon as it is there, and its body as a stream that holds the receiver back while nobody reads. */
export class StreamSink implements Sink {
  readonly answer: Promise<StreamedAnswer>;
  readonly #settle: PromiseWithResolvers<StreamedAnswer>;
  readonly #done = Promise.withResolvers<void>();
  readonly #release: () => void;
  readonly #takesEncodings: boolean;
  #flow: Flow | null = null;
  #body: Readable | null = null;

  /**
   * @param release of what the exchange holds, when nothing more comes
   * @param takesEncodings a compressed answer was asked for: the reader bounds what it unfolds to
   */
  constructor(release: () => void, takesEncodings: boolean) {
    this.#release = release;
    this.#takesEncodings = takesEncodings;
    this.#settle = Promise.withResolvers();
    this.answer = this.#settle.promise;
  }

  use(flow: Flow): void {
    this.#flow = flow;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    const encoding = headers['content-encoding'];
    const body = new Readable({
      read: () => this.#flow?.resume(),
      destroy: (error, callback) => {
        this.#flow?.stop();
        callback(error);
      },
    });
    // Whoever reads it hears of it all the same; one that nobody reads ends nothing but itself.
    body.on('error', () => undefined);
    this.#body = body;
    if (encoding !== undefined && encoding !== 'identity' && !this.#takesEncodings) {
      // Unasked for, and what it would unfold to is not bounded.
      body.destroy();
      this.#settle.reject(new OutboundError('protocol', 'The answer is compressed, which was not asked for.'));
      return;
    }
    this.#settle.resolve({ status, headers, body, done: this.#done.promise });
  }

  data(chunk: Buffer): boolean {
    return this.#body?.push(chunk) ?? true;
  }

  end(error: OutboundError | null): void {
    this.#release();
    this.#done.resolve();
    if (this.#body === null) this.#settle.reject(error ?? exchangeFailed(null));
    else if (error === null) this.#body.push(null);
    else this.#body.destroy(error);
  }
}

/**
 * The beginning of an answer as text that PostgreSQL and JSON can hold: UTF-8, U+FFFD for what is none and for NUL, and cuts the text to `bytesMax` bytes at a character's boundary.
 * @param cut the bytes stop in the midst of the answer: half a character at their end is dropped.
 */
export function snippetOf(bytes: Buffer, bytesMax: number, cut: boolean): string {
  const text = decode(bytes, cut).replaceAll('\0', '\uFFFD');
  // A replaced byte takes three, so the text may be longer than the bytes were.
  const encoded = Buffer.from(text, 'utf8');
  return encoded.length <= bytesMax ? text : decode(encoded.subarray(0, bytesMax), true);
}

function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut });
}
