// Requests for a WebSocket upgrade (RFC 6455, section 4.2.1). Any other upgrade is ignored and the request is answered normally (RFC 9110,
// section 7.8), as clients that offer HTTP/2 expect.
import type { IncomingMessage } from 'node:http';
import { Answer } from '../http/answer.ts';

export function asksForWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return method === 'GET' && httpVersion === '1.1' && !hasBody && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * The answer of a request whose connection Node has left: the last one in HTTP, whatever it says. `head`: what came right behind the
 * request. `taken` is called when the connection is taken in place of an answer.
 */
export function lastAnswer(request: IncomingMessage, head: Buffer, taken: () => void): Answer {
  const { socket } = request;
  socket.on('error', () => socket.destroy());
  const answer = new Answer(request);
  answer.shouldKeepAlive = false;
  answer.assignSocket(socket);
  // Bytes that nobody has read would turn the end into a reset, which may overtake the answer.
  answer.once('finish', () => socket.resume().destroySoon());
  const take = () => {
    answer.detachSocket(socket);
    taken();
    return socket;
  };
  answer.upgrade = { head, take };
  return answer;
}
