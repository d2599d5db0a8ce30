// A receiver of pushed messages on this machine: notes every request, and answers as the test says.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Pushed {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape
  readonly message: any;
  /** performance.now() at the arrival of its last byte. */
  readonly atMs: number;
}

/** Answers a request; `pushed` is the newest of `requests`. Without an answer the request stays open. */
export type Answerer = (pushed: Pushed, response: ServerResponse) => void | Promise<void>;

export interface Receiver {
  readonly url: string;
  readonly requests: Pushed[];
  /** How the next requests are answered; at first 200. */
  answer(answerer: Answerer): void;
  /** Requests open now, and the most there were at once. */
  readonly open: () => number;
  readonly openMost: () => number;
  /** Payload field `n` of every request, in order of arrival. */
  readonly numbers: () => number[];
  stop(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answerer =>
  (_, response) => {
    response.writeHead(code, headers).end();
  };

export async function startReceiver(): Promise<Receiver> {
  const requests: Pushed[] = [];
  let answerer: Answerer = status(200);
  let open = 0;
  let openMost = 0;
  const server = createServer((request, response) => {
    open += 1;
    openMost = Math.max(openMost, open);
    response.once('close', () => {
      open -= 1;
    });
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const pushed = { headers: request.headers, text, message: JSON.parse(text), atMs: performance.now() };
      requests.push(pushed);
      void answerer(pushed, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/jobs`,
    requests,
    answer(next) {
      answerer = next;
    },
    open: () => open,
    openMost: () => openMost,
    numbers: () => requests.map(({ message }) => message.payload.n),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
