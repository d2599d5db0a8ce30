// A flood over many sockets at once holds the event loop for no longer than one call may, while it is read and when all of them are closed.
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { allowedCpuMs } from '../support/slowness.ts';
import { longestTurn } from '../support/turn-meter.ts';
import { frame, handshake } from './client.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

const FLOODING = 600;
const CLOSED = 1_500;
/** The best of them counts: a collection of garbage may fall into one. */
const TRIES = 4;
const { turnMsMax } = admission.call;

const state = emptyParlor();
let bench: TestService;
beforeAll(async () => {
  bench = await startTestService({
    extraModules: [parlorModule(state)],
    // All of them have flooded soon.
    admission: { webSocket: { messagesPerSecond: 5 }, account: { webSocketMessagesPerSecond: 1_000_000 } },
  });
});
afterAll(() => bench.stop());

/** In a thread, so that a turn of the service has nothing of it. Says when all are open, floods when told to, and ends when all are closed. */
const CLIENT = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { url, head, flood, count } } = require('node:worker_threads');
  const { hostname, port } = new URL(url);
  const ends = new Map();
  let open = 0;
  const sockets = [];
  // One after the other: a rush of handshakes is not what is tested.
  const openNext = () => {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.write(head);
    socket.once('data', (bytes) => {
      if (!String(bytes).startsWith('HTTP/1.1 101')) throw new Error(String(bytes));
      if ((open += 1) === count) parentPort.postMessage('open');
      else openNext();
    });
    socket.on('error', () => undefined).on('data', (bytes) => {
      const at = bytes.indexOf(0x88);
      if (at < 0 || bytes[0] === 0x48) return;
      const code = bytes.readUInt16BE(at + 2);
      ends.set(code, (ends.get(code) ?? 0) + 1);
      socket.destroy();
    });
    socket.on('close', () => (open -= 1) === 0 && parentPort.postMessage([...ends]));
  };
  openNext();
  parentPort.once('message', () => sockets.forEach((socket) => socket.write(flood)));
`;

const said = (client: Worker) =>
  new Promise((resolve, reject) => client.once('message', resolve).once('error', reject));

/** The longest turn in which all sockets of a client flood, or something else is done to them, until all are closed. */
async function turnOf(count: number, flood: Buffer, code: number, act: (client: Worker) => void): Promise<number> {
  const { secret } = await createTestAccount(bench.core);
  const head = `${handshake('/parlor/x', secret)}\r\n`;
  let turnMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && turnMs >= turnMsMax; tries += 1) {
    const client = new Worker(CLIENT, { eval: true, workerData: { url: bench.url, head, flood, count } });
    expect(await said(client)).toBe('open');
    const taken = await longestTurn(async () => {
      act(client);
      expect(await said(client)).toEqual([[code, count]]);
    });
    turnMs = Math.min(turnMs, taken);
    await client.terminate();
    await expect.poll(() => state.open.size).toBe(0);
  }
  return turnMs;
}

test.each([
  ['pings', frame(9, Buffer.alloc(0))],
  ['messages', frame(1, Buffer.from('x'))],
])(
  '%s of hundreds of sockets at once hold no turn of the event loop for long',
  async (_what, one) => {
    const flood = Buffer.concat(Array.from({ length: 300 }, () => one));
    expect(await turnOf(FLOODING, flood, 1008, (client) => client.postMessage('flood'))).toBeLessThan(
      allowedCpuMs(turnMsMax),
    );
  },
  120_000,
);

test('nor does the close of hundreds', async () => {
  const close = () => {
    for (const socket of state.open) socket.close(4000);
  };
  expect(await turnOf(CLOSED, Buffer.alloc(0), 4000, close)).toBeLessThan(allowedCpuMs(turnMsMax));
}, 120_000);
