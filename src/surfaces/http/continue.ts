// `Expect: 100-continue` (RFC 9110, section 10.1.1). The client is told to continue once somebody reads the body, so a call refused before that
// costs it no upload. A final answer without the 100 closes the connection: it is unknown whether the body follows.
import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';

/** Called before anybody reads of the request. */
export function continueWhenRead(request: IncomingMessage, answer: Answer): void {
  if (!bringsBody(request)) {
    answer.writeContinue();
    return;
  }
  const { shouldKeepAlive } = answer;
  answer.shouldKeepAlive = false;
  answer.asksToGoOn = true;
  const read = request._read;
  // Node asks for bytes by this, the first time when somebody reads.
  request._read = (size) => {
    request._read = read;
    if (answer.asksToGoOn && !answer.headersSent) {
      answer.shouldKeepAlive = shouldKeepAlive;
      answer.writeContinue();
    }
    answer.asksToGoOn = false;
    read.call(request, size);
  };
}

function bringsBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
