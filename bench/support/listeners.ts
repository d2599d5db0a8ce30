// Many subscribed sockets in a process of their own: they speak just enough of WebSockets to subscribe and to count what comes.
import { fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** So many sockets of one app. `from`: the local address, of which each may have 2,000. */
export interface Listening {
  readonly appKey: string;
  readonly channel: string;
  readonly count: number;
  readonly from: string;
}

type Order =
  | { readonly open: readonly Listening[]; readonly port: number }
  | { readonly count: true }
  | { readonly drop: true };

const AT_ONCE = 50;
const AGAIN_MS = 1_000;
const sockets = new Set<Socket>();
let frames = 0;

/** Masked with zeros, as short messages are. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126 ? [0x81, 0x80 | payload.length] : [0x81, 0xfe, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(4), payload]);
}

/** Resolves when it is subscribed; what comes then counts. False: the service has no room now. */
function openOne(port: number, { appKey, channel, from }: Listening): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    sockets.add(socket);
    let isSubscribed = false;
    let left: Buffer = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => {
      sockets.delete(socket);
      resolve(false);
    });
    socket.on('connect', () => {
      const headers = ['Host: 127.0.0.1', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
      const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`;
      socket.write(
        `GET /app/${appKey}?protocol=7&client=js&version=8.6.0 HTTP/1.1\r\n${[...headers, key].join('\r\n')}\r\n\r\n`,
      );
      socket.write(textFrame(JSON.stringify({ event: 'pusher:subscribe', data: { channel } })));
    });
    socket.on('data', (piece) => {
      if (!isSubscribed) {
        left = Buffer.concat([left, piece]);
        if (left.includes('HTTP/1.1 4') || left.includes('HTTP/1.1 5')) {
          socket.destroy();
          sockets.delete(socket);
          return resolve(false);
        }
        if (!left.includes('subscription_succeeded')) return;
        isSubscribed = true;
        left = Buffer.alloc(0);
        resolve(true);
        return;
      }
      const bytes = left.length === 0 ? piece : Buffer.concat([left, piece]);
      left = bytes.subarray(countFrames(bytes));
    });
  });
}

/** Counts the whole frames, and answers where the first that is not whole begins. */
function countFrames(bytes: Buffer): number {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const short = (bytes[at + 1] as number) & 127;
    const end = short < 126 ? at + 2 + short : at + 4 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) break;
    frames += 1;
    at = end;
  }
  return at;
}

async function open(port: number, all: readonly Listening[]): Promise<void> {
  const waiting = all.flatMap((each) => Array.from({ length: each.count }, () => each));
  const next = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      // As clients do, told to come again.
      while (!(await openOne(port, one))) await sleep(AGAIN_MS);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

if (process.send !== undefined && process.argv[2] === 'listen') {
  process.on('message', async (order: Order) => {
    if ('open' in order) await open(order.port, order.open);
    if ('drop' in order) {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    }
    process.send?.({ frames });
  });
}

/** Starts the process; its sockets end with it. */
export function startListeners() {
  const child = fork(new URL(import.meta.url).pathname, ['listen']);
  const order = (sent: Order) =>
    new Promise<number>((resolve, reject) => {
      const ended = () => reject(new Error('the listeners have ended'));
      child.once('exit', ended);
      child.once('message', (answer: { frames: number }) => {
        child.off('exit', ended);
        resolve(answer.frames);
      });
      child.send(sent);
    });
  return {
    open: (port: number, all: readonly Listening[]) => order({ port, open: all }),
    frames: () => order({ count: true }),
    drop: () => order({ drop: true }),
    stop: () => child.kill(),
  };
}
