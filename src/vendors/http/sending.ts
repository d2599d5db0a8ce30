// One request of `send` in progress: the bytes sent to each address, and whether any have been sent.
import { Readable } from 'node:stream';
import { TimeSlices } from '../../lib/time-slices.ts';
import type { StreamedAnswer } from './answers.ts';
import type { Flow } from './exchange.ts';
import { OutboundError } from './failure.ts';
import type { HttpMethod, OutboundRequest } from './port.ts';
import { checkWireHeaders } from './wire-headers.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** A shorter form goes as one piece, whose length receivers are told. */
const FORM_BYTES_AT_ONCE = 16 * 1024 * 1024;

export interface Wire {
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
}

export class Sending {
  readonly request: OutboundRequest;
  /** Where it goes now. */
  url: string;
  #sent = false;
  #flow: Flow | null = null;

  constructor(request: OutboundRequest) {
    this.request = request;
    this.url = request.url;
  }

  /** Something may have reached a receiver. */
  get sent(): boolean {
    return this.#sent || this.#flow?.sent === true;
  }

  /** Whether the operator wrote the address it goes to now. */
  get isOperators(): boolean {
    const { operator } = this.request;
    const at = URL.parse(this.url);
    if (operator === undefined || at === null) return false;
    return at.origin === originOf(operator.origin) || (operator.assetHosts ?? []).includes(at.host);
  }

  on(flow: Flow): void {
    this.#sent ||= this.#flow?.sent === true;
    this.#flow = flow;
  }

  /** @throws OutboundError `protocol` for headers that are not sent. */
  async wire(): Promise<Wire> {
    const { method, headers = {}, credentials = {}, operator, url } = this.request;
    checkWireHeaders(headers);
    checkWireHeaders(credentials);
    const isTheirs = originOf(this.url) === originOf(operator?.origin ?? url);
    const own = isTheirs ? { ...headers, ...credentials } : headers;
    const { body, framing } = await this.#body();
    return { method, headers: { ...own, ...framing }, body };
  }

  /** Whether the answer leads elsewhere; then `url` is there. */
  follow({ status, headers: { location } }: StreamedAnswer): boolean {
    const { method } = this.request;
    if (!REDIRECTS.has(status) || location === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
    const next = URL.parse(location, this.url);
    if (next === null) throw new OutboundError('protocol', 'The redirect cannot be read.');
    this.url = next.href;
    return true;
  }

  /** A body that nobody will read any more is not kept open. */
  discard(): void {
    if (this.request.body instanceof Readable) this.request.body.destroy();
  }

  async #body(): Promise<{ body: Wire['body']; framing: Record<string, string> }> {
    const { body = null, bodyBytes, limits } = this.request;
    if (body instanceof FormData) return formBody(body);
    if (!(body instanceof Readable)) return { body, framing: {} };
    const framing: Record<string, string> = bodyBytes === undefined ? {} : { 'content-length': String(bodyBytes) };
    return { body: Readable.from(limitBytes(body, limits.bodyBytesMax ?? Number.POSITIVE_INFINITY)), framing };
  }
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

async function formBody(form: FormData): Promise<{ body: Uint8Array | Readable; framing: Record<string, string> }> {
  const made = new Response(form);
  const framing = { 'content-type': made.headers.get('content-type') as string };
  let bytes = 0;
  for (const value of form.values()) bytes += typeof value === 'string' ? value.length : value.size;
  if (bytes <= FORM_BYTES_AT_ONCE) return { body: new Uint8Array(await made.arrayBuffer()), framing };
  return { body: Readable.fromWeb(made.body as import('node:stream/web').ReadableStream), framing };
}

/** Of all bodies: a socket brings up to 2 MiB in one turn of the event loop. */
const slices = new TimeSlices();

async function* limitBytes(body: Readable, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes > 0 && slices.isOver) await slices.next();
      const piece: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      bytes += piece.length;
      if (bytes > bytesMax) throw new OutboundError('protocol', `The body has more than ${bytesMax} bytes.`);
      yield piece;
    }
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause;
    throw new OutboundError('aborted', 'The body could not be read to its end.', { cause });
  }
}
