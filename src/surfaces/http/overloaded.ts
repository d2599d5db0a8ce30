// 503 OVERLOADED for a request that nothing has been done for yet: written here, without routes, keys and stacks.
import type { IncomingMessage } from 'node:http';
import type { Envelope } from '../../gateway/envelope.ts';
import { traceIdOf, traceparentOf } from '../../gateway/trace-context.ts';
import { newId } from '../../lib/ids.ts';
import { problem } from '../../problems/problem.ts';

import type { Answer } from './answer.ts';
import { everywhere, JSON_TYPE } from './headers.ts';

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
