// Overload and bad-request answers for requests that no work has been done for. They are written here, without routes, keys and stacks.
import type { IncomingMessage } from 'node:http';
import type { Envelope } from '../../gateway/envelope.ts';
import { traceIdOf, traceparentOf } from '../../gateway/trace-context.ts';
import { newId } from '../../lib/ids.ts';
import { problem } from '../../problems/problem.ts';

import type { Answer } from './answer.ts';
import { everywhere, JSON_TYPE } from './headers.ts';

/** What still has to be told when the service is full, so that nobody restarts a service for being busy. */
const HEALTH = /^\/(?:healthz|readyz|metrics)(?:\?|$)/;

/** Where there is no answer to write to. */
const bare = (status: string, more = '') =>
  `HTTP/1.1 ${status}\r\nConnection: close\r\n${more}Content-Length: 0\r\n\r\n`;
export const BAD_REQUEST = bare('400 Bad Request');
export const FULL = bare('503 Service Unavailable', 'Retry-After: 1\r\n');

export const OVERLOADED = problem('OVERLOADED', { retryAfterMs: 1_000 });

export function answerOverloaded(request: IncomingMessage, answer: Answer, envelope: Envelope): void {
  if (answer.destroyed) return;
  const traceId = traceIdOf(request.headers);
  const requestId = newId('req_');
  const identity = { requestId, traceId, startedMs: performance.now(), entryForm: 'rest', warnings: [] };
  const body = Buffer.from(envelope.failure(identity, OVERLOADED));
  answer.writeHead(503, {
    ...everywhere,
    'content-type': JSON_TYPE,
    'content-length': body.length,
    'retry-after': '1',
    'x-request-id': requestId,
    traceparent: traceparentOf(traceId),
    // The body that was sent with it is not read.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  answer.end(body);
}

/** Without an envelope: for what is no HTTP of ours, or comes beyond the bound of connections. */
export function refuse(answer: Answer, status: 400 | 417 | 503): void {
  if (status === 503) answer.setHeader('retry-after', '1');
  answer.writeHead(status, { connection: 'close', 'content-length': 0 });
  answer.end();
}

export function isHealth({ url = '' }: IncomingMessage): boolean {
  return !url.startsWith('/v1/') && HEALTH.test(url);
}
