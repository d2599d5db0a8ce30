// A vendor that speaks the chat-completions wire: a real HTTP server, which does what a test tells it for the next calls.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
export type Json = any;

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  /** The client went before the answer was whole. */
  left: boolean;
  /** Of an endless answer, that its client and what lies between have taken. */
  sentBytes: number;
}

/** What the vendor does with one call. */
export type Deed =
  | { readonly status: number; readonly body: Json; readonly headers?: Record<string, string> }
  /** Parts of a stream as they are written, each on its own, or what is waited for between them; then the end, or none. */
  | {
      readonly stream: readonly (string | Buffer | Promise<unknown>)[];
      /** Waited for before the head. */
      readonly headAfter?: Promise<unknown>;
      /** Of its content; events of a stream when absent. */
      readonly type?: string;
      readonly ends?: 'end' | 'reset' | 'silence';
      readonly everyMs?: number;
    }
  /** A stream of `opening`, and then of `endless` again and again, as fast as it is read. */
  | { readonly opening: string; readonly endless: string }
  /** Does it once the promise is fulfilled. */
  | { readonly after: Promise<unknown>; readonly deed: Deed }
  | 'reset'
  | 'silence';

/** How it says its words. */
interface Speech {
  completion(text: string): Json;
  stream(text: string): string[];
}

export const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export class OpenaiDouble {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #deeds: Deed[] = [];
  /** What it does with a call by what that says, where nothing else is said; null: what it usually does. */
  rule: (seen: Seen) => Deed | null = () => null;
  readonly #words: string;
  readonly #speaks: Speech;

  private constructor(words: string, speaks: Speech) {
    this.#words = words;
    this.#speaks = speaks;
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString('utf8') || 'null');
        const seen: Seen = { path: request.url ?? '', headers: request.headers, body, left: false, sentBytes: 0 };
        this.seen.push(seen);
        response.on('close', () => {
          seen.left = !response.writableEnded;
        });
        void this.#do(this.#deeds.shift() ?? this.rule(seen) ?? this.usual(seen), response, seen);
      });
    });
  }

  /** `words`: what its model says. */
  static async start(
    words: string,
    speaks: Speech = { completion: completionOf, stream: streamOf },
  ): Promise<OpenaiDouble> {
    const double = new OpenaiDouble(words, speaks);
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** For the next calls, in this order. */
  next(...deeds: readonly Deed[]): void {
    this.#deeds.push(...deeds);
  }

  /** Forgets what it has seen, and what it should do. */
  reset(): void {
    this.seen.length = 0;
    this.#deeds.length = 0;
    this.rule = () => null;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** What it does where nothing else is said. */
  usual({ path, body }: Seen): Deed {
    if (path.endsWith('/embeddings'))
      return { status: 200, body: embeddingsAnswer([body.input].flat().length, body.encoding_format) };
    const { stream, completion } = this.#speaks;
    return body.stream === true ? { stream: stream(this.#words) } : { status: 200, body: completion(this.#words) };
  }

  async #do(deed: Deed, response: ServerResponse, seen: Seen): Promise<void> {
    if (deed === 'silence') return;
    if (deed === 'reset') {
      response.destroy();
      return;
    }
    if ('after' in deed) {
      await deed.after;
      return this.#do(deed.deed, response, seen);
    }
    if ('status' in deed) {
      const text = typeof deed.body === 'string' ? deed.body : JSON.stringify(deed.body);
      response.writeHead(deed.status, { 'content-type': 'application/json', ...deed.headers }).end(text);
      return;
    }
    if ('endless' in deed) return sendEndlessly(deed, response, seen);
    await deed.headAfter;
    response.writeHead(200, { 'content-type': deed.type ?? 'text/event-stream' }).flushHeaders();
    for (const part of deed.stream) {
      if (part instanceof Promise) await part;
      else response.write(part);
      await sleep(deed.everyMs ?? 1);
    }
    if (deed.ends === 'reset') response.destroy();
    else if (deed.ends !== 'silence') response.end();
  }
}

async function sendEndlessly(
  { opening: first, endless }: Extract<Deed, { endless: string }>,
  response: ServerResponse,
  seen: Seen,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first);
  const left = once(response, 'close');
  while (!response.destroyed) {
    const isTaken = response.write(endless);
    if (!isTaken) await Promise.race([once(response, 'drain').catch(() => undefined), left]);
    seen.sentBytes += endless.length;
  }
}

export function completionOf(content: string, over: object = {}): Json {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1_767_225_600, model: 'm-1', choices, usage, ...over };
}

export const frame = (body: Json): string => `data: ${JSON.stringify(body)}\n\n`;

export function chunk(delta: object, finish: string | null = null): Json {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_767_225_600, model: 'm-1', choices };
}

export const opening = frame(chunk({ role: 'assistant', content: '' }));
export const done = 'data: [DONE]\n\n';

/** A stream as the vendor sends it: an opening, a word at a time, why it ends, usage, the end marker. */
export function streamOf(content: string, told: object | null = usage): string[] {
  const words = content.split(/(?<= )/).map((word) => frame(chunk({ content: word })));
  const counted = told === null ? [] : [frame({ ...chunk({}), choices: [], usage: told })];
  return [opening, ...words, frame(chunk({}, 'stop')), ...counted, done];
}

export function embeddingsAnswer(count: number, encoding: string): Json {
  const data = Array.from({ length: count }, (_, index) => {
    const vector = Float32Array.from([index, 0.5, -0.25]);
    const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', data: data.reverse(), model: 'e-1', usage: { prompt_tokens: count, total_tokens: count } };
}
