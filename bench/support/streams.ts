// Clients of streams, in a process of their own: one order is so many connections that ask for one stream after the other until the time is over.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from './load.ts';

export interface StreamsOrder {
  readonly url: string;
  readonly path: string;
  /** Connection i asks with secret i. */
  readonly secrets: readonly string[];
  readonly connections: number;
  /** What the vendor is to stream. */
  readonly pieces: number;
  readonly everyMs: number;
  /** Streams of one connection. */
  readonly streams: number;
}

export interface StreamsReport {
  /** From the request to the first content, ascending, milliseconds. */
  readonly firstMs: readonly number[];
  readonly pieces: number;
  /** Streams that have not come to their end as they should. */
  readonly failed: number;
}

const CONTENT = Buffer.from('" boat"');
const DONE = Buffer.from('data: [DONE]');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** One stream on an open connection; the first content's time, and how many pieces came. */
function stream(socket: Socket, request: Buffer): Promise<{ firstMs: number; pieces: number; isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    let [firstMs, pieces, isWhole] = [Number.NaN, 0, false];
    let rest: Buffer = Buffer.alloc(0);
    const onData = (bytes: Buffer) => {
      const text = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let after = 0;
      for (let at = text.indexOf(CONTENT); at !== -1; at = text.indexOf(CONTENT, after)) {
        if (pieces === 0) firstMs = performance.now() - startedMs;
        pieces += 1;
        after = at + CONTENT.length;
      }
      if (text.includes(DONE)) isWhole = true;
      const isOver = text.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
      rest = text.subarray(Math.max(after, text.length - DONE.length));
      if (!isOver) return;
      socket.off('data', onData);
      socket.off('error', reject);
      resolve({ firstMs, pieces, isWhole });
    };
    socket.on('data', onData);
    socket.on('error', reject);
    socket.write(request);
  });
}

async function run({
  url,
  path,
  secrets,
  connections,
  pieces,
  everyMs,
  streams,
}: StreamsOrder): Promise<StreamsReport> {
  const body = JSON.stringify({
    model: 'double/m-1',
    stream: true,
    max_tokens: 100,
    messages: [{ role: 'user', content: `${pieces} ${everyMs}` }],
  });
  const { hostname, port } = new URL(url);
  const firstMs: number[] = [];
  let [told, failed] = [0, 0];
  // They begin one after the other, as strangers do, not all in one moment.
  const spreadMs = Math.max(1, (pieces * everyMs) / connections);
  const one = async (i: number) => {
    await sleep(connections === 1 ? 0 : Math.min(i * spreadMs, i * 10));
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    const request = post(url, path, secrets[i % secrets.length] as string, body);
    for (let n = 0; n < streams; n += 1) {
      const done = await stream(socket, request);
      if (!done.isWhole || done.pieces !== pieces) failed += 1;
      firstMs.push(done.firstMs);
      told += done.pieces;
    }
    socket.end();
  };
  await Promise.all(Array.from({ length: connections }, (_, i) => one(i)));
  return { firstMs: firstMs.sort((a, b) => a - b), pieces: told, failed };
}

process.on('message', (order: StreamsOrder) => {
  void run(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
