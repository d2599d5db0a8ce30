// A receiver of webhooks in a process of its own: one port answers 200 at once and notes when each event came, one never answers.
// Told by its parent: `expect` (how many deliveries to wait for), then answers with what it saw.
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';

export interface Seen {
  /** From the first to the last delivery. */
  readonly seconds: number;
  /** From the event's timestamp to its arrival, ms. */
  readonly latencies: readonly number[];
}

let expected = 0;
let firstMs = 0;
let latencies: number[] = [];

function report(): void {
  if (expected === 0 || latencies.length < expected) return;
  process.send?.({ seconds: (performance.now() - firstMs) / 1000, latencies } satisfies Seen);
  expected = 0;
  latencies = [];
}

const live = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200, { 'content-length': '0' }).end();
    const timestamp = /"timestamp":"([^"]+)"/.exec(Buffer.concat(chunks).toString('latin1'))?.[1] as string;
    if (latencies.length === 0) firstMs = performance.now();
    latencies.push(Date.now() - Date.parse(timestamp));
    report();
  });
});
const hanging = createSocketServer((socket) => {
  socket.on('error', () => undefined);
  socket.resume();
});
live.keepAliveTimeout = 60_000;
live.listen(0, '127.0.0.1', () =>
  hanging.listen(0, '127.0.0.1', () =>
    process.send?.({ live: (live.address() as AddressInfo).port, hanging: (hanging.address() as AddressInfo).port }),
  ),
);
process.on('message', (count: number) => {
  expected = count;
  report();
});
process.on('disconnect', () => process.exit(0));
