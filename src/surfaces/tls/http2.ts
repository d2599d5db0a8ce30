// HTTP/2 in front of HTTP/1.1: each stream becomes an in-process connection with one request, so all limits, routes and answers are the same
// for both. HTTP/2 offers no WebSockets here; browsers open them by HTTP/1.1.
import { type IncomingMessage, type OutgoingHttpHeaders, request as sendRequest } from 'node:http';
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Admission } from '../../core/admission.ts';
import { socketPair } from './socket-pair.ts';

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR } = constants;
/** Each may hold 64 KiB of a body that nobody has read yet. */
const STREAMS_MAX = 64;
/** Pairs of a request's headers. */
const HEADERS_MAX = 200;
/** They belong to one connection, which ends here (RFC 9113, 8.2.2). */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);
const WITHOUT_BODY = new Set([204, 304]);
const BODY_EXPECTED = new Set(['POST', 'PUT', 'PATCH']);

export class Http2Sessions {
  readonly #open = new Set<ServerHttp2Session>();
  readonly #bounds: Admission['connection'];
  readonly #take: (socket: Socket) => void;

  /** @param take what serves a connection of HTTP/1.1 */
  constructor(bounds: Admission['connection'], take: (socket: Socket) => void) {
    this.#bounds = bounds;
    this.#take = take;
  }

  /** Serves a connection whose client has chosen HTTP/2. */
  serve(socket: TLSSocket): void {
    const { headerBytesMax, keepAliveTimeoutMs } = this.#bounds;
    const session = performServerHandshake(socket, {
      maxHeaderListPairs: HEADERS_MAX,
      settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: headerBytesMax, enablePush: false },
    });
    this.#open.add(session);
    let streams = 0;
    session.on('error', () => undefined).once('close', () => this.#open.delete(session));
    // A stream that is silent is ended as its connection within.
    session.setTimeout(keepAliveTimeoutMs, () => void (streams === 0 && session.close()));
    session.on('stream', (stream: ServerHttp2Stream, _headers, _flags, rawHeaders: string[]) => {
      streams += 1;
      stream.once('close', () => {
        streams -= 1;
      });
      this.#relay(stream, rawHeaders, socket);
    });
  }

  /** Streams that are open go on; no new ones begin. */
  close(): void {
    for (const session of this.#open) session.close();
  }

  destroy(): void {
    for (const session of this.#open) session.destroy();
  }

  #relay(stream: ServerHttp2Stream, rawHeaders: readonly string[], socket: TLSSocket): void {
    stream.on('error', () => undefined);
    const head = headOf(rawHeaders, stream.endAfterHeaders);
    if (head === null) {
      stream.close(NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    const { near, far } = socketPair(socket);
    try {
      const request = sendRequest({ ...head, setHost: false, createConnection: () => near });
      request.on('continue', () => stream.headersSent || stream.additionalHeaders({ ':status': 100 }));
      request.on('response', (response) => answer(stream, response, head.method));
      request.on('error', () => stream.close(NGHTTP2_INTERNAL_ERROR));
      stream.once('close', () => request.destroy());
      this.#take(far);
      if (stream.endAfterHeaders) request.end();
      else stream.pipe(request);
    } catch {
      // What HTTP/1.1 cannot carry, such as a control character in a path.
      near.destroy();
      stream.close(NGHTTP2_PROTOCOL_ERROR);
    }
  }
}

interface Head {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value. */
  readonly headers: string[];
}

/** Null for CONNECT, and for what names no method and path. */
function headOf(raw: readonly string[], isWhole: boolean): Head | null {
  const pseudo = new Map<string, string>();
  const headers: string[] = [];
  const cookies: string[] = [];
  const names = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const [name, value] = [raw[i] as string, raw[i + 1] as string];
    if (name.startsWith(':')) pseudo.set(name, value);
    else if (name === 'cookie') cookies.push(value);
    else if (!OF_CONNECTION.has(name)) {
      headers.push(name, value);
      names.add(name);
    }
  }
  const [method, path, authority] = [':method', ':path', ':authority'].map((name) => pseudo.get(name));
  if (method === undefined || path === undefined || method === 'CONNECT') return null;
  // One that also sends Host is refused where the two stand, as by HTTP/1.1.
  if (authority !== undefined && !(names.has('host') && headers[headers.indexOf('host') + 1] === authority))
    headers.push('host', authority);
  // A client may split them (RFC 9113, 8.2.3).
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  if (!names.has('content-length')) {
    if (!isWhole) headers.push('transfer-encoding', 'chunked');
    else if (BODY_EXPECTED.has(method)) headers.push('content-length', '0');
  }
  headers.push('connection', 'close');
  return { method, path, headers };
}

function answer(stream: ServerHttp2Stream, response: IncomingMessage, method: string): void {
  if (stream.destroyed || stream.closed) return void response.destroy();
  const { statusCode = 500, headers } = response;
  const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name));
  const endStream = method === 'HEAD' || WITHOUT_BODY.has(statusCode);
  stream.respond({ ':status': statusCode, ...Object.fromEntries(kept) } as OutgoingHttpHeaders, { endStream });
  if (endStream) {
    response.resume();
    stopSending(stream);
  } else
    pipeline(response, stream, (error) => {
      // The end of a connection before that of its answer must not pass for it.
      if (error && !stream.closed) stream.close(NGHTTP2_INTERNAL_ERROR);
      else if (!error) stopSending(stream);
    });
}

/** What a client still sends of a body that is answered already (RFC 9113, 8.1). */
function stopSending(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
}
