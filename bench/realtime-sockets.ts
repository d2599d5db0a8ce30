// What does a socket cost? Deliveries to 1,000 subscribers of a channel, and the memory of many connections that listen.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../src/db/client.ts';
import { processorSeconds } from './support/processor.ts';
import { median, print } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const SUBSCRIBERS = Number(process.env.BENCH_SUBSCRIBERS ?? 1_000);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 200);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 4_000);
const AT_ONCE = 50;

const service = await startBenchService(2, 'off');
const { port } = new URL(service.url);
await withClient(service.connection, (client) => client.query(`UPDATE core.account SET tier = 'enterprise'`));
const keys: string[] = [];
for (const { secret } of service.accounts) {
  const reply = await fetch(`${service.url}/v1/realtime/app`, { headers: { authorization: `Bearer ${secret}` } });
  keys.push(((await reply.json()) as { data: { app_key: string } }).data.app_key);
}

/** A connection that counts what it gets and reads none of it. */
class Listener {
  static bytes = 0;
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  static async open(key: string, n: number, channel: string): Promise<Listener> {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: `127.0.0.${2 + (n % 50)}` });
    const lines = `GET /app/${key}?protocol=7 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`;
    socket.write(`${lines}Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`);
    await heard(socket, 'connection_established');
    socket.write(masked(JSON.stringify({ event: 'pusher:subscribe', data: { channel } })));
    await heard(socket, 'subscription_succeeded');
    socket.on('data', (bytes) => {
      Listener.bytes += bytes.length;
    });
    return new Listener(socket);
  }
}

function heard(socket: Socket, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (!text.includes(what)) return;
      socket.off('data', read);
      resolve();
    };
    socket.on('data', read);
    socket.once('close', () => reject(new Error(`closed before ${what}: ${text}`)));
  });
}

/** A text frame of a client, masked with zeros (RFC 6455, section 5.2). */
function masked(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

async function openMany(count: number, channelOf: (n: number) => string, keyOf: (n: number) => string) {
  const opened: Listener[] = [];
  for (let n = 0; n < count; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, i) =>
      Listener.open(keyOf(n + i), n + i, channelOf(n + i)),
    );
    opened.push(...(await Promise.all(some)));
  }
  return opened;
}

const [secret = ''] = service.accounts.map((account) => account.secret);
const [key = ''] = keys;
const listeners = await openMany(
  SUBSCRIBERS,
  () => 'news',
  () => key,
);
const data = { text: 'x'.repeat(100) };
const publish = () => service.call(secret, '/v1/realtime/publish', { channel: 'news', event: 'tick', data });

/** Bytes of one message to all. */
Listener.bytes = 0;
await publish();
await sleep(2_000);
const messageBytes = Listener.bytes;
const rates: number[] = [];
const processor: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  Listener.bytes = 0;
  const before = [performance.now(), processorSeconds(service.pid)] as const;
  const all = (async () => {
    for (let n = 0; n < MESSAGES; n += 20) await Promise.all(Array.from({ length: 20 }, publish));
  })();
  while (Listener.bytes < messageBytes * MESSAGES) await sleep(5);
  await all;
  const deliveries = SUBSCRIBERS * MESSAGES;
  rates.push(deliveries / ((performance.now() - before[0]) / 1_000));
  processor.push(((processorSeconds(service.pid) - before[1]) / deliveries) * 1e6);
}
for (const { socket } of listeners) socket.destroy();
await sleep(5_000);

const beforeMb = service.memoryMb();
const many = await openMany(
  CONNECTIONS,
  (n) => `channel-${n % 1_000}`,
  (n) => keys[n % 2] as string,
);
await sleep(3_000);
const perConnectionKib = ((service.memoryMb() - beforeMb) * 1024) / CONNECTIONS;
for (const { socket } of many) socket.destroy();

const rate = median(rates);
print(`Sockets: ${MESSAGES} messages to ${SUBSCRIBERS} subscribers, ${ROUNDS} rounds; ${CONNECTIONS} connections`, [
  { what: 'deliveries a second', value: rate.toFixed(0), target: '≥ 30000', met: rate >= 30_000 },
  { what: 'processor time of a delivery', value: `${median(processor).toFixed(1)} µs` },
  {
    what: 'memory of a connection',
    value: `${perConnectionKib.toFixed(1)} KiB`,
    target: '≤ 20',
    met: perConnectionKib <= 20,
  },
]);
await service.stop();
