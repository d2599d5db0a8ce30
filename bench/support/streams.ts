// Clients of streams, in a process of their own: one order is so many connections that ask for one stream after the other until the time is over.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from './load.ts';

export interface StreamsOrder {
  readonly url: string;
  readonly path: string;
  /** What stands in the last event of a whole stream; absent: what ends one of chat/completions. */
  readonly lastEvent?: string;
  /** Connection i asks with secret i. */
  readonly secrets: readonly string[];
  readonly connections: number;
  /** What the vendor is to stream. */
  readonly pieces: number;
  readonly everyMs: number;
  /** Streams of one connection. */
  readonly streams: number;
  /** Once so many seconds are over, no connection begins another one. */
  readonly seconds?: number;
  /** Each stream has at least this share of the pieces, no two in a row as many. */
  readonly leastShare?: number;
}

export interface StreamsReport {
  /** From the request to the first content, ascending, milliseconds. */
  readonly firstMs: readonly number[];
  readonly pieces: number;
  /** Streams that were refused, or have not come to their end as they should. */
  readonly failed: number;
}

const OK = Buffer.from('HTTP/1.1 200');
const REFUSED_PAUSE_MS = 1_000;
const CONTENT = Buffer.from('" boat"');
const LAST_EVENT = 'data: [DONE]';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** One stream on an open connection; the first content's time, and how many pieces came. */
function stream(
  socket: Socket,
  request: Buffer,
  lastEvent: string,
): Promise<{ firstMs: number; pieces: number; isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    let [firstMs, pieces, isWhole] = [Number.NaN, 0, false];
    let rest: Buffer = Buffer.alloc(0);
    const onData = (bytes: Buffer) => {
      if (pieces === 0 && rest.length === 0 && !bytes.subarray(0, OK.length).equals(OK)) return fail();
      const text = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let after = 0;
      for (let at = text.indexOf(CONTENT); at !== -1; at = text.indexOf(CONTENT, after)) {
        if (pieces === 0) firstMs = performance.now() - startedMs;
        pieces += 1;
        after = at + CONTENT.length;
      }
      if (text.includes(lastEvent)) isWhole = true;
      const isOver = text.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
      rest = text.subarray(Math.max(after, text.length - lastEvent.length));
      if (!isOver) return;
      socket.off('data', onData).off('error', fail).off('close', fail);
      resolve({ firstMs, pieces, isWhole });
    };
    const fail = () => reject(new Error('a stream was refused, or its connection has ended'));
    socket.on('data', onData).on('error', fail).on('close', fail);
    socket.write(request);
  });
}

/** How many pieces stream `n` of connection `i` has: between the least and all of them. */
function piecesOf({ pieces, leastShare = 1 }: StreamsOrder, i: number, n: number): number {
  return Math.round(pieces * (leastShare + (1 - leastShare) * (((i * 7 + n * 5) % 11) / 10)));
}

async function run(order: StreamsOrder): Promise<StreamsReport> {
  const { url, path, secrets, connections, pieces, everyMs, streams } = order;
  const { seconds = Number.POSITIVE_INFINITY, lastEvent = LAST_EVENT } = order;
  const bodyOf = (count: number) =>
    JSON.stringify({
      model: 'double/m-1',
      stream: true,
      max_tokens: 100,
      messages: [{ role: 'user', content: `${count} ${everyMs}` }],
    });
  const { hostname, port } = new URL(url);
  const firstMs: number[] = [];
  let [told, failed] = [0, 0];
  const untilMs = performance.now() + seconds * 1_000;
  // They begin one after the other, as strangers do, not all in one moment.
  const spreadMs = Math.max(1, (pieces * everyMs) / connections);
  const opened = async () => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    return socket;
  };
  const one = async (i: number) => {
    await sleep(connections === 1 ? 0 : Math.min(i * spreadMs, i * 10));
    let socket = await opened();
    for (let n = 0; n < streams && performance.now() < untilMs; n += 1) {
      const count = piecesOf(order, i, n);
      const request = post(url, path, secrets[i % secrets.length] as string, bodyOf(count));
      const done = await stream(socket, request, lastEvent).catch(() => null);
      if (done === null) {
        // As any client of a busy service: a while later, on another connection.
        failed += 1;
        socket.destroy();
        await sleep(REFUSED_PAUSE_MS);
        socket = await opened();
        continue;
      }
      if (!done.isWhole || done.pieces !== count) failed += 1;
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
