import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { admission } from '../../core/admission.ts';
import { createLog } from '../../core/process/log.ts';
import { Envelope } from '../../gateway/envelope.ts';
import { Refusals } from '../../gateway/limits/refusals.ts';
import { Traffic } from '../../gateway/limits/traffic.ts';
import { Connections } from './connections.ts';

const HEAD_MS = 60;
const REQUEST = 'GET / HTTP/1.1\r\nHost: quartermaster\r\n\r\n';
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

let ended: () => void = () => undefined;
afterEach(() => ended());

/** One process of several that answers `ok`, and the port of another, which hands over what it accepts before a byte is read. */
async function ports(
  silenceMs: number,
  handle: RequestListener = (_request, answer) => answer.end('ok'),
  answeringMs = admission.connection.answeringMs,
): Promise<{ readonly own: number; readonly other: number }> {
  const connection = {
    ...admission.connection,
    headersTimeoutMs: HEAD_MS,
    headersLookEveryMs: 10,
    silenceMs,
    answeringMs,
  };
  const traffic = new Traffic(new Registry(), { ...admission, connection });
  let take: (socket: Socket) => void = () => undefined;
  const envelope = new Envelope({ baseUrl: 'http://localhost', region: 'western', workerId: 'one', cnyPerUsd: 7 });
  const connections = new Connections({
    traffic,
    refusals: new Refusals(traffic.bounds, createLog('silent')),
    envelope: () => envelope,
    isProxy: () => false,
    tls: null,
    homes: {
      homeOf: async () => null,
      move: async () => undefined,
      onMoved(taken) {
        take = taken;
      },
    },
  });
  const server: Server = connections.server(handle);
  server.on('clientError', (error, socket) => connections.end(socket as Socket, error));
  const other = createServer({ pauseOnConnect: true }, (socket) => {
    const { _handle: handle } = socket as unknown as { _handle: object };
    take(new Socket({ handle, readable: true, writable: true } as object));
  });
  for (const one of [server, other]) await once(one.listen(0, '127.0.0.1'), 'listening');
  ended = () => {
    server.close();
    server.closeAllConnections();
    other.close();
  };
  return { own: (server.address() as AddressInfo).port, other: (other.address() as AddressInfo).port };
}

/** What the client has read when the connection has ended, or `answered` is in it. */
async function reads(socket: Socket, answered?: string): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (answered !== undefined && text.includes(answered)) break;
  }
  return text;
}

describe('a connection that another process has handed over', () => {
  test('stays while it is idle, as one between two requests, though a new one has less time for its first', async () => {
    const { own, other } = await ports(60_000);
    const moved = connect(other, '127.0.0.1');
    expect(await reads(connect(own, '127.0.0.1'))).toBe(BAD_REQUEST);
    // By now it has been idle for longer than that.
    expect(await reads(connect(own, '127.0.0.1'))).toBe(BAD_REQUEST);
    moved.write(REQUEST);
    expect(await reads(moved, 'ok')).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(moved.readyState).toBe('open');
    moved.destroy();
  });

  test('has the time of any other for the head of its request', async () => {
    const { other } = await ports(60_000);
    const moved = connect(other, '127.0.0.1');
    moved.write(REQUEST.slice(0, 20));
    expect(await reads(moved)).toBe(BAD_REQUEST);
  });

  test('ends by silence, and without a word', async () => {
    const { other } = await ports(3 * HEAD_MS);
    expect(await reads(connect(other, '127.0.0.1'))).toBe('');
  });
});

describe('silence', () => {
  const SILENCE_MS = 400;
  /** Waits for as long as the bound of silence takes several times over. */
  const longer = () => sleep(3 * SILENCE_MS);

  test('does not end a call that is being answered', async () => {
    const { own } = await ports(SILENCE_MS, (_request, answer) => void longer().then(() => answer.end('ok')));
    const socket = connect(own, '127.0.0.1');
    socket.write(REQUEST);
    expect(await reads(socket, 'ok')).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });

  test('does not end an answer of which the client has read what there is', async () => {
    const { own } = await ports(SILENCE_MS, (_request, answer) => {
      answer.writeHead(200).write('half');
      void longer().then(() => answer.end('whole'));
    });
    const socket = connect(own, '127.0.0.1');
    socket.write(REQUEST);
    expect(await reads(socket, 'whole')).toContain('whole');
    socket.destroy();
  });

  test('ends a call that is being answered for longer than any may take', async () => {
    const { own } = await ports(SILENCE_MS, () => undefined, 3 * SILENCE_MS);
    const socket = connect(own, '127.0.0.1');
    socket.write(REQUEST);
    expect(await reads(socket)).toBe('');
  });

  test.each([
    ['an answer that its client does not read', REQUEST, 64 * 1024 * 1024],
    [
      'a call whose body does not come',
      REQUEST.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\n'),
      0,
    ],
  ])('ends %s', async (_, request, bytes) => {
    const left = Promise.withResolvers<void>();
    const { own } = await ports(SILENCE_MS, (_request, answer) => {
      answer.on('close', left.resolve);
      if (bytes > 0) answer.write(Buffer.alloc(bytes));
    });
    const socket = connect(own, '127.0.0.1');
    socket.pause();
    socket.write(request);
    await left.promise;
    socket.destroy();
  });
});
