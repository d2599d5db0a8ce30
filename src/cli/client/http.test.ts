import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { eventsOf } from '../calls/stream.ts';
import { readText, send } from './http.ts';

let server: Server;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an answer is read up to its bound, as it is unpacked', async () => {
  const url = await serve((_req, res) => res.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(100_000))));
  expect(await readText(await send(url, {}), 100_000)).toHaveLength(100_000);
  await expect(readText(await send(url, {}), 99_999)).rejects.toThrow(/it is longer than/);
});

test('a service that says nothing is not waited for without end, before its answer and within it', async () => {
  const url = await serve((req, res) => void (req.url === '/half' && res.write('{')));
  await expect(send(url, { silenceMs: 50 })).rejects.toThrow('nothing came for 0.05 s');
  const half = await send(`${url}/half`, { silenceMs: 50 });
  await expect(readText(half)).rejects.toThrow(/could not be read/);
});

test('an event that is too long ends the stream with a line', async () => {
  const stream = new PassThrough();
  const events = eventsOf(stream as unknown as IncomingMessage);
  stream.write('data: one\n\n');
  expect((await events.next()).value).toMatchObject({ data: 'one' });
  stream.write(`data: ${'a'.repeat(1024 * 1024 + 1)}`);
  await expect(events.next()).rejects.toThrow('an event is longer than 1048576 characters');
});
