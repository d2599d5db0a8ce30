// What a socket may send and hold: beyond its bounds it is closed with a code that says why, and costs no more memory than they say.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import * as library from 'ws';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { frame, handshake, type Line, openBare, openLine } from './client.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

const KIB = 1024;
const state = emptyParlor();
let bench: TestService;
let secret: string;
let keyId: string;
beforeAll(async () => {
  bench = await startTestService({
    extraModules: [parlorModule(state)],
    admission: {
      webSocket: { lookEveryMs: 100, closeWithinMs: 300, unreadBytesMax: 256 * KIB },
      all: { webSocketBytesMax: 1_024 * KIB },
      account: { webSocketMessagesPerSecond: 500 },
    },
  });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  ({ secret, keyId } = await createTestAccount(bench.core));
  state.said.length = 0;
});

const open = (path = '/parlor/x'): Promise<Line> => openLine(bench.url, path, secret);
const bare = () => openBare(bench.url, '/parlor/x', secret);
const metric = async (name: string) => {
  const text = await (await fetch(`${bench.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
};
const nothingHeld = () => expect.poll(() => metric('qm_web_socket_bytes')).toBe(0);

/** Bytes that were received, to the end. */
async function endOf(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part);
  return Buffer.concat(parts);
}

/** The code of the close frame that the connection ends with. */
async function closeCodeOf(bytes: Uint8Array | readonly Uint8Array[]): Promise<number> {
  const { hostname, port } = new URL(bench.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`${handshake('/parlor/x', secret)}\r\n`);
  for (const part of [bytes].flat()) socket.write(part as Uint8Array);
  const all = await endOf(socket);
  const frames = all.subarray(all.indexOf('\r\n\r\n') + 4);
  const at = frames.indexOf(0x88);
  return frames.readUInt16BE(at + 2);
}

test('a message may be as long as its route says, in one piece or in many', async () => {
  const line = await open('/parlor-market');
  expect(await line.ask('x'.repeat(256))).toHaveLength(256);
  line.ws.send('x'.repeat(257));
  expect(await line.ended).toMatchObject({ code: 1009 });
  const parts = await open('/parlor-market');
  for (let i = 0; i < 3; i += 1) parts.ws.send('x'.repeat(100), { fin: false });
  expect(await parts.ended).toMatchObject({ code: 1009 });
  expect(state.said.filter((text) => text.length > 256)).toEqual([]);
});

test.each([
  [
    'a giant frame, told by its head alone',
    Buffer.concat([frame(2, Buffer.alloc(0)).subarray(0, 1), Buffer.from([0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])]),
    1009,
  ],
  ['an unmasked frame', Buffer.from([0x81, 1, 0x78]), 1002],
  ['text that is no UTF-8', frame(1, Buffer.from([0xff, 0xfe])), 1007],
  ['an opcode that is none', frame(3, Buffer.from('x')), 1002],
  ['a compressed frame', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
  ['a ping that is too long', frame(9, Buffer.alloc(126)), 1002],
  ['a continuation of nothing', frame(0, Buffer.from('x')), 1002],
  [
    'fragments beyond number',
    Array.from({ length: 200 }, (_, i) => frame(i === 0 ? 1 : 0, Buffer.from('x'), false)),
    1008,
  ],
  [
    'empty fragments beyond number',
    Array.from({ length: 200 }, (_, i) => frame(i === 0 ? 1 : 0, Buffer.alloc(0), false)),
    1008,
  ],
] as const)('%s ends the socket', async (_name, bytes, code) => {
  expect(await closeCodeOf(bytes)).toBe(code);
});

test('no extension is taken up, and so nothing is inflated', async () => {
  const line = await openLine(bench.url, '/parlor/x', secret, { perMessageDeflate: true });
  expect(line.ws.extensions).toBe('');
  line.ws.terminate();
});

test('a flood of messages is closed, by the code of its route, and the rest is not heard', async () => {
  const line = await open();
  for (let i = 0; i < 1_000; i += 1) line.ws.send('x');
  expect(await line.ended).toEqual({ code: 1008, reason: 'RATE_LIMITED' });
  expect(state.said.length).toBeLessThanOrEqual(250);
  const market = await open('/parlor-market');
  for (let i = 0; i < 1_000; i += 1) market.ws.ping();
  expect(await market.ended).toMatchObject({ code: 4301 });
});

test('nothing more is read of a socket that has flooded, not even what has arrived', async () => {
  // Its types leave it out.
  const { Receiver } = library as unknown as { Receiver: { prototype: { emit(event: string): boolean } } };
  const emit = vi.spyOn(Receiver.prototype, 'emit');
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(9, Buffer.alloc(0))));
  expect(await closeCodeOf(pings)).toBe(1008);
  expect(emit.mock.calls.filter(([event]) => event === 'ping').length).toBeLessThan(400);
  emit.mockRestore();
});

test('a flood of bytes is closed', async () => {
  const line = await open();
  for (let i = 0; i < 40; i += 1) line.ws.send(Buffer.alloc(60 * KIB));
  expect(await line.ended).toMatchObject({ code: 1008 });
});

test('messages are handled in order, one at a time, and wait in the network meanwhile', async () => {
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const line = await open();
  line.ws.send('wait');
  for (let i = 0; i < 100; i += 1) line.ws.send(String(i));
  await expect.poll(() => line.ws.bufferedAmount).toBe(0);
  const later = await open();
  expect(await later.ask('later')).toBe('later');
  expect(state.said).toEqual(['wait', 'later']);
  later.ws.close();
  gate.resolve();
  const heard = await Promise.all(Array.from({ length: 101 }, () => line.next()));
  expect(heard).toEqual(['wait', ...Array.from({ length: 100 }, (_, i) => String(i))]);
  line.ws.close();
});

test('messages wait while a route opens a socket', async () => {
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const line = await open('/parlor-market');
  line.ws.send('one');
  const later = await open();
  expect(await later.ask('later')).toBe('later');
  expect(state.said).toEqual(['later']);
  later.ws.close();
  gate.resolve();
  expect(await line.next()).toBe('one');
  line.ws.close();
});

test('a route is told of a socket that closed while it was being opened', async () => {
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const before = state.closed.length;
  const line = await open('/parlor-market');
  line.ws.close(4002);
  await line.ended;
  gate.resolve();
  await expect.poll(() => state.closed.slice(before)).toContain(4002);
});

test('messages of an account beyond its number wait for the next second, and are all heard', async () => {
  const lines = await Promise.all(Array.from({ length: 4 }, () => open()));
  const begunMs = performance.now();
  for (const { ws } of lines) for (let i = 0; i < 100; i += 1) ws.send(String(i));
  await Promise.all(lines.flatMap((line) => Array.from({ length: 100 }, () => line.next())));
  // 50 in 100 ms.
  expect(performance.now() - begunMs).toBeGreaterThan(200);
  expect(state.said).toHaveLength(400);
  for (const { ws } of lines) ws.close();
});

test('who does not read is closed, and what it has not read is given back', async () => {
  const line = await open();
  line.ws.pause();
  for (let i = 0; i < 40; i += 1) line.ws.send(`send ${256 * KIB}`);
  await expect.poll(() => [...state.open].some(({ principal }) => principal?.id === keyId)).toBe(false);
  expect(await metric('qm_web_sockets_closed_total\\{route="parlor.room",end="slow"\\}')).toBe(1);
  await nothingHeld();
  line.ws.terminate();
});

test('half messages count in all: one account has half of what is free, and another finds room', async () => {
  const half = Buffer.concat([frame(2, Buffer.alloc(50 * KIB), false), frame(0, Buffer.alloc(8)).subarray(0, 5)]);
  const lines = await Promise.all(Array.from({ length: 14 }, bare));
  for (const line of lines) line.send(half);
  await expect.poll(() => metric('qm_web_socket_bytes')).toBeGreaterThan(400 * KIB);
  await expect.poll(() => lines.filter((line) => line.closed).length).toBeGreaterThan(2);
  const all = await Promise.all(lines.filter((line) => line.closed).map((line) => line.receive(() => false, 1)));
  expect(all.every((text) => text.endsWith('OVERLOADED'))).toBe(true);
  expect(await metric('qm_web_socket_bytes')).toBeLessThan(600 * KIB);
  const { secret: other } = await createTestAccount(bench.core);
  const line = await openLine(bench.url, '/parlor/y', other);
  line.ws.send('x'.repeat(50 * KIB), { fin: false });
  line.ws.send('y');
  expect(await line.next()).toHaveLength(50 * KIB + 1);
  line.ws.close();
  for (const each of lines) each.destroy();
  await nothingHeld();
});

test('a route that fails closes with 1011, and nothing else ends', async () => {
  const [burning, well] = [await open(), await open()];
  burning.ws.send('boom');
  expect(await burning.ended).toEqual({ code: 1011, reason: 'INTERNAL_ERROR' });
  expect(await well.ask('hello')).toBe('hello');
  well.ws.send('bye');
  expect(await well.ended).toEqual({ code: 4001, reason: 'as you wish' });
});
