// A tunnel leads to a checked address of the host that a caller names, and to nothing of this machine or its network.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import type { OutboundClient, OutboundTunnel, TunnelReply } from '../../src/vendors/http/port.ts';
import { listen, loopbackClient, type Receiver } from './receivers.ts';

let receiver: Receiver;
let client: OutboundClient;
let ownPort: number;
beforeAll(async () => {
  receiver = await listen({ onSocket: (socket) => socket.write('hello') });
  const own = createServer().listen(0, '127.0.0.1');
  await once(own, 'listening');
  ownPort = (own.address() as { port: number }).port;
  own.close();
  client = loopbackClient({
    resolve: async (host) =>
      host === 'none.example.org' ? [] : host === 'two.example.org' ? ['::1', '127.0.0.1'] : ['127.0.0.1'],
    ownPorts: () => new Set([ownPort]),
  });
});
afterAll(async () => {
  await client.close();
  await receiver.close();
});

const openTunnel = (request: Omit<OutboundTunnel, 'signal'>, by = client): Promise<TunnelReply> =>
  by.openTunnel({ signal: new AbortController().signal, ...request });

test.each(['public.example.org', '127.0.0.1', 'two.example.org'])('to %s', async (host) => {
  const reply = await openTunnel({ host, port: receiver.port });
  if (reply.kind === 'failed') throw new Error(reply.message);
  const [piece] = await once(reply.socket, 'data');
  expect(String(piece)).toBe('hello');
  expect(reply.socket.allowHalfOpen).toBe(true);
  reply.socket.destroy();
});

test('not to what ALLOW_PRIVATE_SOURCES exempts, where that counts for nothing', async () => {
  const before = receiver.connections;
  expect(await openTunnel({ host: 'public.example.org', port: receiver.port, isPublicOnly: true })).toMatchObject({
    code: 'refused',
  });
  expect(await openTunnel({ host: '::1', port: receiver.port, isPublicOnly: true })).toMatchObject({ code: 'refused' });
  expect(receiver.connections).toBe(before);
});

test('not to this service, at a public address of this machine neither', async () => {
  const port = ownPort;
  expect(await openTunnel({ host: '127.0.0.1', port })).toMatchObject({ code: 'refused' });
  expect(await openTunnel({ host: 'public.example.org', port })).toMatchObject({ code: 'refused' });
});

test.each([22, 25, 5432, 6379])('not to port %i of a public host', async (port) => {
  const guarded = createOutboundClient({ allowPrivateTargets: [], resolve: async () => ['93.184.215.14'] });
  expect(await openTunnel({ host: 'public.example.org', port, isPublicOnly: true }, guarded)).toMatchObject({
    code: 'refused',
  });
});

test('a host without an address, a port where nobody listens, and a caller that has left', async () => {
  expect(await openTunnel({ host: 'none.example.org', port: 443 })).toMatchObject({ code: 'dns' });
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as { port: number };
  closed.close();
  expect(await openTunnel({ host: '127.0.0.1', port })).toMatchObject({ code: 'connect' });
  const left = await client.openTunnel({ host: '127.0.0.1', port: receiver.port, signal: AbortSignal.abort() });
  expect(left).toMatchObject({ code: 'aborted' });
});
