// Receivers that mean harm: every attempt ends in time, in a clear outcome, and memory stays flat.
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { outboundLimits } from '../../src/vendors/http/limits.ts';
import type { OutboundClient, OutboundOutcome } from '../../src/vendors/http/port.ts';
import { allowedMs } from '../support/slowness.ts';
import { listen, loopbackClient, OK, postTo, type Receiver } from './receivers.ts';

const QUICK = { totalMs: 1_000, connectMs: 500 };
/** Of what must end by itself: what ends for want of time, or because its socket was idle, comes too late. */
const UNHURRIED = { totalMs: 60_000, connectMs: 60_000, idleMs: 60_000 };
/** What ends by itself, ends within this. */
const SOON_MS = 1_000;
/** How late an end by time may come. */
const LATE_MS = 1_500;
/** What an attempt may leave or take above the process's own noise. */
const FLAT_BYTES = 48 * 2 ** 20;

const receivers: Receiver[] = [];
const clients: OutboundClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function attempt(behaviour: { onSocket?: (s: Socket) => void; onRequest?: (s: Socket) => void }, limits = {}) {
  const receiver = await listen(behaviour);
  const client = loopbackClient({ limits: { ...QUICK, ...limits } });
  receivers.push(receiver);
  clients.push(client);
  const startedMs = performance.now();
  const outcome = await postTo(client, `http://127.0.0.1:${receiver.port}/`);
  return { outcome, receiver, tookMs: performance.now() - startedMs };
}

/** Writes the same bytes for as long as the client takes them. */
function flood(socket: Socket, bytes: Buffer | string): void {
  while (!socket.destroyed && socket.write(bytes));
  if (!socket.destroyed) socket.once('drain', () => flood(socket, bytes));
}

function every(socket: Socket, ms: number, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), ms);
  socket.on('close', () => clearInterval(timer));
}

function failed(code: string) {
  return expect.objectContaining({ kind: 'failed', code, message: expect.stringMatching(/^[^\d]+\.$/) });
}

describe('no answer', () => {
  test('never: timeout', async () => {
    const { outcome, tookMs } = await attempt({});
    expect(outcome).toEqual(failed('timeout'));
    expect(tookMs).toBeLessThan(QUICK.totalMs + allowedMs(LATE_MS));
  });

  test('a head that never ends: timeout', async () => {
    const slowHead = (socket: Socket) => every(socket, 20, 'X');
    const { outcome } = await attempt({ onRequest: slowHead });
    expect(['timeout', 'protocol']).toContain((outcome as { code: string }).code);
  });

  test.each([
    ['before a byte', { onSocket: (socket: Socket) => void socket.resetAndDestroy() }],
    ['after the request', { onRequest: (socket: Socket) => void socket.resetAndDestroy() }],
    ['by a farewell', { onRequest: (socket: Socket) => void socket.end() }],
    ['in the midst of the head', { onRequest: (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nX-A') }],
  ])('closed %s: a failure, at once', async (_when, behaviour) => {
    const { outcome, tookMs } = await attempt(behaviour, UNHURRIED);
    expect(outcome).toMatchObject({ kind: 'failed', code: expect.stringMatching(/^(reset|protocol|connect)$/) });
    expect(tookMs).toBeLessThan(allowedMs(SOON_MS));
  });

  test('nobody listens: connect', async () => {
    const closed = await listen({});
    await closed.close();
    const client = loopbackClient({ limits: QUICK });
    clients.push(client);
    expect(await postTo(client, `http://127.0.0.1:${closed.port}/`)).toEqual(failed('connect'));
  });

  test.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['a head of 1 MiB', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(2 ** 20)}\r\n\r\n`],
  ])('%s: protocol', async (_what, answer) => {
    const { outcome } = await attempt({ onRequest: (socket) => void socket.write(answer) });
    expect(outcome).toEqual(expect.objectContaining({ kind: 'failed', code: 'protocol' }));
  });

  test('a flood of 1xx answers: protocol, after a few of them', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000);
    const { outcome, tookMs } = await attempt({ onRequest: (socket) => flood(socket, early) }, UNHURRIED);
    expect(outcome).toEqual(expect.objectContaining({ kind: 'failed', code: 'protocol' }));
    expect(tookMs).toBeLessThan(allowedMs(SOON_MS));
  });

  test('the caller may end it: aborted, before and while it runs', async () => {
    const receiver = await listen({});
    const client = loopbackClient();
    receivers.push(receiver);
    clients.push(client);
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await postTo(client, url, { signal: AbortSignal.abort() })).toMatchObject({
      kind: 'failed',
      code: 'aborted',
    });
    expect(receiver.connections).toBe(0);
    const outcome = await postTo(client, url, { signal: AbortSignal.timeout(50) });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'aborted' });
  });
});

describe('an answer with a bad body counts by its status', () => {
  const head = (more: string) => `HTTP/1.1 202 Accepted\r\nRetry-After: 7\r\n${more}\r\n`;
  const answered = (snippet: unknown) =>
    expect.objectContaining({ kind: 'answered', status: 202, retryAfter: '7', snippet });

  test('that never ends', async () => {
    const slow = (socket: Socket) => {
      socket.write(head('Content-Length: 1000000\r\n'));
      every(socket, 20, 'x');
    };
    const { outcome, tookMs } = await attempt({ onRequest: slow });
    expect(outcome).toEqual(answered(expect.stringMatching(/^x{3,}$/)));
    expect(tookMs).toBeLessThan(QUICK.totalMs + allowedMs(LATE_MS));
  });

  test('that breaks off, or is garbled', async () => {
    const cut = (socket: Socket) => void socket.end(`${head('Content-Length: 10\r\n')}abc`);
    expect((await attempt({ onRequest: cut })).outcome).toEqual(answered('abc'));
    const garbled = (socket: Socket) =>
      void socket.write(`${head('Transfer-Encoding: chunked\r\n')}3\r\nabc\r\nzz\r\n`);
    expect((await attempt({ onRequest: garbled })).outcome).toEqual(answered('abc'));
  });

  test('of 10 GB: no more than 64 KiB and what is under way is read, then the socket is gone', async () => {
    const before = process.memoryUsage();
    const huge = (socket: Socket) => {
      socket.write(head('Content-Length: 10000000000\r\n'));
      flood(socket, Buffer.alloc(65_536, 'x'));
    };
    const { outcome, receiver, tookMs } = await attempt({ onRequest: huge }, UNHURRIED);
    expect(outcome).toEqual(answered('x'.repeat(1024)));
    expect(tookMs).toBeLessThan(allowedMs(SOON_MS));
    await expect.poll(() => receiver.open).toBe(0);
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(FLAT_BYTES);
  });

  test('of endless chunks', async () => {
    const chunks = (socket: Socket) => {
      socket.write(head('Transfer-Encoding: chunked\r\n'));
      flood(socket, `400\r\n${'c'.repeat(1024)}\r\n`.repeat(16));
    };
    const { outcome, tookMs } = await attempt({ onRequest: chunks }, UNHURRIED);
    expect(outcome).toEqual(answered('c'.repeat(1024)));
    expect(tookMs).toBeLessThan(allowedMs(SOON_MS));
  });

  test('that is a gzip bomb: it stays packed', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 2 ** 20));
    const before = process.memoryUsage();
    const send = (socket: Socket) => {
      socket.write(head(`Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`));
      socket.write(bomb);
    };
    const { outcome, receiver } = await attempt({ onRequest: send });
    expect(outcome).toMatchObject({ kind: 'answered', status: 202 });
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(2 ** 20);
    expect(receiver.text).toContain('accept-encoding: identity');
  });

  test('a snippet is text without NUL, of 1 KiB at most', async () => {
    const body = Buffer.concat([Buffer.from('a\0\xff'), Buffer.alloc(4_000, '漢')]);
    const send = (socket: Socket) => {
      socket.write(head(`Content-Length: ${body.length}\r\n`));
      socket.write(body);
    };
    const { outcome } = await attempt({ onRequest: send });
    const { snippet } = outcome as Extract<OutboundOutcome, { kind: 'answered' }>;
    expect(snippet).toMatch(/^a\uFFFDÿ漢+$/);
    expect(Buffer.byteLength(snippet)).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(snippet)).toBeGreaterThan(1020);
  });

  test('informational answers before it are passed over', async () => {
    const send = (socket: Socket) => void socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`);
    const { outcome } = await attempt({ onRequest: send });
    expect(outcome).toMatchObject({ kind: 'answered', status: 200, snippet: 'ok' });
  });
});

/** Memory that is still in use, on the heap and beside it. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const PATIENT = { timeout: 50_000, interval: 200 };

test('hundreds of hostile receivers at once leave no memory and no socket behind', async () => {
  const huge = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n');
    flood(socket, Buffer.alloc(16_384, 'x'));
  };
  const bad = [() => undefined, huge, (socket: Socket) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100))];
  const servers = await Promise.all(bad.map((onRequest) => listen({ onRequest })));
  receivers.push(...servers);
  const client = loopbackClient({ limits: QUICK });
  clients.push(client);
  const round = () =>
    Promise.all(
      servers.flatMap(({ port }) => Array.from({ length: 50 }, () => postTo(client, `http://127.0.0.1:${port}/`))),
    );
  const closed = () => expect.poll(() => servers.map(({ open }) => open), PATIENT).toEqual([0, 0, 0]);
  await round();
  await closed();
  const before = liveBytes();
  for (let i = 0; i < 3; i += 1) expect(await round()).toHaveLength(150);
  // The receivers stand in this process: what they were writing goes with their sockets.
  await closed();
  await expect.poll(() => liveBytes() - before, PATIENT).toBeLessThan(8 * 2 ** 20);
});

test('at the real limits: over after 15 s', async () => {
  const slow = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
    every(socket, 1_000, 'x');
  };
  const results = await Promise.all([attempt({}, outboundLimits), attempt({ onRequest: slow }, outboundLimits)]);
  expect(results.map(({ outcome }) => outcome.kind)).toEqual(['failed', 'answered']);
  for (const { tookMs } of results) {
    expect(tookMs).toBeGreaterThan(14_900);
    expect(tookMs).toBeLessThan(15_000 + allowedMs(LATE_MS));
  }
});
