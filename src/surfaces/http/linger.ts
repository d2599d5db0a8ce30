// Lingering close for calls whose body was refused, so the client still gets the answer. A socket closed with unread bytes is reset, and
// a client that still writes may lose the answer. So some of the body is read, and the rest left in the client's buffers while the answer
// arrives. Then the connection is closed (as lingering_close of nginx).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { admission } from '../../core/admission.ts';

const { refusedBodyReadWholeBytes, refusedBodyReadBytes, refusedBodyReadMs } = admission.connection;

/** Whether so much of the body is still to come that the connection is better closed. */
export function leavesMuchUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && announcedBytes(headers) > refusedBodyReadWholeBytes;
}

/** The answer, as a stream that ends when the connection should. */
export function answerThenLinger(request: IncomingMessage, text: string | Buffer): Readable {
  const answer = new Readable({ read: () => undefined });
  const end = () => void (answer.destroyed || answer.readableEnded || answer.push(null));
  const timer = setTimeout(end, refusedBodyReadMs);
  let left = refusedBodyReadBytes;
  const take = (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) request.pause();
  };
  request.on('data', take).once('end', end).once('close', end);
  answer.once('close', () => {
    clearTimeout(timer);
    request.off('data', take).off('end', end).off('close', end);
  });
  answer.push(text);
  return answer;
}

function announcedBytes(headers: IncomingHttpHeaders): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}
