// What the proxy answers in place of a target: status, `x-qm-code`, and a sentence. Many clients show only the reason of a refused CONNECT, so the
// sentence stands there, too.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../../problems/problem.ts';

const REASON_CHARACTERS_MAX = 200;
/** Of a body that nobody reads: one announced as no longer is read to its end, and the connection goes on. */
const UNREAD_BYTES_MAX = 64 * 1024;

export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const invalidRequest = (message: string) => new ProxyRefusal(400, 'INVALID_REQUEST', message);
export const tooManyAtOnce = (message: string) => new ProxyRefusal(429, 'CONCURRENCY_LIMITED', message);

/** `isProxys`: of the proxy itself, whose key is asked for by 407 (RFC 9110, section 15.5.8), and not of a target. */
function answerOf(error: unknown, isProxys: boolean) {
  const { status, code, message, retryAfterMs } = partsOf(error);
  const isKeyMissing = isProxys && status === 401;
  return {
    status: isKeyMissing ? 407 : status,
    code,
    body: `${code}: ${message}\n`,
    headers: {
      'x-qm-code': code,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
      ...(isKeyMissing ? { 'proxy-authenticate': 'Basic realm="Quartermaster", charset="UTF-8"' } : {}),
    },
  };
}

function partsOf(error: unknown) {
  if (error instanceof ProxyRefusal) return { ...error, message: error.message, retryAfterMs: undefined };
  if (error instanceof Problem) {
    const { httpStatus: status, code, message, retryAfterMs } = error;
    return { status, code, message, retryAfterMs };
  }
  return {
    status: 500,
    code: 'INTERNAL_ERROR',
    message: 'Something failed inside the service.',
    retryAfterMs: undefined,
  };
}

export function isExpected(error: unknown): boolean {
  return error instanceof ProxyRefusal || (error instanceof Problem && error.code !== 'INTERNAL_ERROR');
}

/** Answers a CONNECT, and ends the connection. */
export function refuseConnect(socket: Socket, error: unknown): void {
  const { status, body, headers } = answerOf(error, true);
  const reason = body
    .trim()
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, REASON_CHARACTERS_MAX);
  const length = { 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`, () => socket.destroySoon());
}

/** Answers a request of which nothing has been answered yet; ends the connection of another one. */
export function refuseRequest(response: ServerResponse, error: unknown, isProxys: boolean): void {
  const { req } = response;
  if (response.headersSent || response.destroyed) return void req.socket.destroy();
  const { status, body, headers } = answerOf(error, isProxys);
  // A connection outside of a CONNECT may not have shown a key, and gets no time to be idle in.
  if (isProxys || hasLongBodyToCome(req)) response.shouldKeepAlive = false;
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, STATUS_CODES[status] ?? '', { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(req.method === 'HEAD' ? undefined : body);
}

/** Or whether it comes is not known: its client waits for a 100. */
function hasLongBodyToCome({ complete, headers }: IncomingMessage): boolean {
  const { expect, 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return !complete && (expect !== undefined || coding !== undefined || Number(length) > UNREAD_BYTES_MAX);
}
