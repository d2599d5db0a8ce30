// HTTPS receivers: who is believed, and what the handshake names.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { selfSigned } from './certificate.ts';
import { listen, loopbackClient, postTo } from './receivers.ts';

const trusted = getCACertificates('default');
const certificate = selfSigned(['hooks.example.com'], ['127.0.0.1']);
const handshakes: { servername: string | false | null; alpn: string | false | null; reused: boolean }[] = [];
const hosts: (string | undefined)[] = [];
let server: Server;
let port = 0;
let client: OutboundClient;

beforeAll(async () => {
  server = createServer(certificate, (req, res) => {
    hosts.push(req.headers.host);
    req.resume().on('end', () => res.end('ok'));
  });
  server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
    const { servername = null, alpnProtocol: alpn } = socket;
    handshakes.push({ servername, alpn, reused: socket.isSessionReused() });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  client = loopbackClient({ resolve: async () => ['127.0.0.1'], limits: { connectMs: 30_000, idleMs: 100 } });
});
afterEach(() => {
  setDefaultCACertificates(trusted);
  handshakes.length = 0;
  hosts.length = 0;
});
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function failedBy(code: string) {
  return expect.objectContaining({ kind: 'failed', code });
}

describe('a certificate', () => {
  test('that nobody trusts is refused, and nothing is sent', async () => {
    const outcome = await postTo(client, `https://hooks.example.com:${port}/`);
    expect(outcome).toEqual(failedBy('tls'));
    expect(outcome).toMatchObject({ message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') });
    expect(hosts).toEqual([]);
  });

  test('for another name is refused', async () => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    // Twice: a resumed session would not be asked for its name again.
    for (let i = 0; i < 2; i += 1) {
      const outcome = await postTo(client, `https://other.example.com:${port}/`);
      expect(outcome).toEqual(failedBy('tls'));
      expect(outcome).toMatchObject({ message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') });
    }
    expect(hosts).toEqual([]);
  });

  test('is refused even where NODE_TLS_REJECT_UNAUTHORIZED=0 stands', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await postTo(client, `https://hooks.example.com:${port}/`)).toEqual(failedBy('tls'));
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });
});

describe('the handshake', () => {
  test('names the host, not the address, and asks for HTTP/1.1', async () => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    for (const host of ['hooks.example.com', 'HOOKS.example.com.']) {
      expect(await postTo(client, `https://${host}:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect(handshakes[0]).toEqual({ servername: 'hooks.example.com', alpn: 'http/1.1', reused: false });
    expect(new Set(hosts)).toEqual(new Set([`hooks.example.com:${port}`]));
  });

  test('with a literal address names nothing, and the certificate must be for the address', async () => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    expect(await postTo(client, `https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(handshakes.map(({ servername }) => servername)).toEqual([false]);
  });

  test('is short for the next socket to the same address', async () => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    const all = Array.from({ length: 3 }, () => postTo(client, `https://hooks.example.com:${port}/`));
    await Promise.all(all);
    await postTo(client, `https://hooks.example.com:${port}/`);
    // sleeps: idle sockets are closed by then.
    await new Promise((resolve) => setTimeout(resolve, 300));
    handshakes.length = 0;
    expect(await postTo(client, `https://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
    expect(handshakes.map(({ reused }) => reused)).toEqual([true]);
  });

  test('that never ends is a timeout, one that is no TLS is a failure of TLS', async () => {
    const silent = await listen({});
    const hasty = loopbackClient({ resolve: async () => ['127.0.0.1'], limits: { connectMs: 300, idleMs: 100 } });
    expect(await postTo(hasty, `https://hooks.example.com:${silent.port}/`)).toEqual(failedBy('timeout'));
    await hasty.close();
    await silent.close();
    const plain = await listen({ onSocket: (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
    expect(await postTo(client, `https://hooks.example.com:${plain.port}/`)).toEqual(failedBy('tls'));
    await plain.close();
  });
});
