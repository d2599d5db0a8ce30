// What the proxy bounds: sockets, handshakes, heads and tunnels; and how it stops.
import { once } from 'node:events';
import net, { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { closeClients, connect, type ProxyBench, RawClient, secureOf, startProxyBench } from './proxy-harness.ts';

/** Few at once, for as long as usual. */
const FEW = { unidentifiedMax: 8, socketsMax: 12, handshakesMax: 8, tunnelsMax: 4, tunnelLookEveryMs: 50 };
/** As many as usual, for short. */
const HASTY = {
  handshakeMs: 300,
  tunnelIdleMs: 300,
  headersTimeoutMs: 300,
  keepAliveTimeoutMs: 300,
  silenceMs: 500,
  closeWithinMs: 300,
};
const REQUEST = 'GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n';

let bench: ProxyBench;
let hasty: ProxyBench;
/** Says again what it hears, and says `end` when it has heard all. */
let echo: Server;
let touched = 0;
beforeAll(async () => {
  [bench, hasty] = await Promise.all([
    startProxyBench({ others: 'tunnel', proxy: FEW }),
    startProxyBench({ others: 'tunnel', proxy: HASTY }),
  ]);
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    touched += 1;
    socket.on('error', () => undefined).on('data', (piece) => socket.write(piece));
    socket.on('end', () => socket.end('end'));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
});
afterAll(async () => {
  echo?.close();
  await Promise.all([bench?.stop(), hasty?.stop()]);
});
beforeEach(() => {
  bench.openTunnel = null;
});

afterEach(closeClients);

const portOf = (server: Server) => (server.address() as net.AddressInfo).port;

/** Tunnels lead to the echo, as the guarded client would to a public address. */
function openToEcho(by: ProxyBench): void {
  by.openTunnel = async () => {
    const socket = net.connect({ port: portOf(echo), host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return { kind: 'open', socket };
  };
}

async function tunnel(of: ProxyBench): Promise<RawClient> {
  const { status, head, socket } = await connect(of, 'public.example.org:443');
  expect(status, head).toBe(200);
  return new RawClient(socket);
}

const codeOf = (head: string) => /x-qm-code: (.*)\r/.exec(head)?.[1];

test('a client that leaves within its handshake frees its place', async () => {
  for (let i = 0; i < 20; i += 1) {
    const { socket, status } = await connect(bench);
    expect(status).toBe(200);
    const ended = once(socket.resume(), 'close');
    socket.end();
    await ended;
  }
});

test('handshakes of an account are few at once', async () => {
  const begun = [];
  for (let i = 0; i < 5; i += 1) begun.push(await connect(bench));
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
  for (const { socket } of begun) socket.destroy();
  await expect.poll(async () => (await connect(bench)).status, { interval: 20 }).toBe(200);
});

test('a tunnel to a private address, a port of this service or one of mail or shells is refused before any socket', async () => {
  const port = portOf(echo);
  const targets = [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`, '169.254.169.254:443', '10.0.0.1:443'];
  for (const target of [
    ...targets,
    `127.0.0.1:${bench.port}`,
    '[::ffff:10.0.0.1]:443',
    'a.internal:443',
    '8.8.8.8:22',
  ]) {
    const { status, head } = await connect(bench, target);
    expect({ target, status, code: codeOf(head) }).toEqual({ target, status: 403, code: 'TARGET_REJECTED' });
  }
  expect(touched).toBe(0);
});

test('a tunnel passes bytes both ways, and the end of one side', async () => {
  openToEcho(bench);
  const wire = await tunnel(bench);
  await wire.send('\0hello\xff').until(/\xff/);
  wire.socket.end();
  expect(await wire.rest()).toBe('\0hello\xffend');
});

test('tunnels of an account are few at once', async () => {
  openToEcho(bench);
  const open = [await tunnel(bench), await tunnel(bench)];
  const { status, head } = await connect(bench, 'public.example.org:443');
  expect({ status, code: codeOf(head) }).toEqual({ status: 429, code: 'CONCURRENCY_LIMITED' });
  for (const { socket } of open) socket.destroy();
  await expect.poll(async () => (await connect(bench, 'public.example.org:443')).status, { interval: 20 }).toBe(200);
});

test('a tunnel ends with its key', async () => {
  openToEcho(bench);
  const admin = await createTestAccount(bench.service.core, 1);
  const call = client(bench.service.url, admin.secret);
  const { key_id, key_secret } = (await call('POST', '/v1/account/keys/create', { name: 'short' })).body.data;
  const wire = await tunnel({ ...bench, account: { ...admin, secret: key_secret } });
  const beat = setInterval(() => wire.send('.'), 50);
  await wire.until(/\./);
  await call('DELETE', `/v1/account/keys/revoke/${key_id}`);
  await wire.rest();
  clearInterval(beat);
});

test('a target that cannot be reached is told as such', async () => {
  bench.openTunnel = async () => ({ kind: 'failed', code: 'dns', message: 'The host does not resolve.', latencyMs: 1 });
  const { status, head } = await connect(bench, 'gone.example.org:443');
  expect({ status, code: codeOf(head) }).toEqual({ status: 502, code: 'TARGET_FAILED' });
});

test('an address takes half of the room of those without a key, and then finds it again', async () => {
  const opened = await Promise.all(Array.from({ length: 8 }, () => RawClient.open(bench.port)));
  const ended = await Promise.race(opened.map((wire) => wire.rest()));
  expect(ended).toBe('');
  for (const { socket } of opened) socket.destroy();
  const secure = await secureOf(bench);
  secure.destroy();
});

test('connections of an account are few at once, and another one finds room', async () => {
  const other = await createTestAccount(bench.service.core, 1);
  const gate = Promise.withResolvers<void>();
  bench.relay = async ({ response }) => {
    await gate.promise;
    response.end('done');
  };
  const busy: RawClient[] = [];
  const secureWithin = () => secureOf(bench).catch(() => null);
  for (let secure = await secureWithin(); secure !== null; secure = await secureWithin())
    busy.push(new RawClient(secure).send(REQUEST));
  // Half of twelve; of the tests before, some may still be closing.
  expect(busy.length).toBeGreaterThan(2);
  expect(busy.length).toBeLessThanOrEqual(6);
  const { status, head } = await connect(bench);
  expect({ status, code: codeOf(head) }).toEqual({ status: 429, code: 'CONCURRENCY_LIMITED' });
  expect((await connect({ ...bench, account: other })).status).toBe(200);
  gate.resolve();
  for (const wire of busy) expect(await wire.until(/done/)).toMatch(/^HTTP\/1.1 200 /);
  for (const { socket } of busy) socket.destroy();
});

test('connections without a head, with half of one, without TLS, and tunnels without a byte end', async () => {
  const silent = await RawClient.open(hasty.port);
  const half = await RawClient.open(hasty.port);
  half.send('CONNECT api.example.org:443 HTTP/1.1\r\nHost:');
  const { socket } = await connect(hasty);
  const plain = new RawClient((await connect(hasty)).socket).send('GET / HTTP/1.1\r\n\r\n');
  const secure = await secureOf(hasty);
  const idle = new RawClient(secure);
  openToEcho(hasty);
  const silentTunnel = await tunnel(hasty);
  expect(await half.rest()).toMatch(/^(HTTP\/1.1 408 .*)?/);
  await Promise.all([silent.rest(), silentTunnel.rest(), new RawClient(socket).rest(), plain.rest(), idle.rest()]);
});

test('a request may last while bytes pass, and ends when none do', async () => {
  hasty.relay = async ({ url, response }) => {
    if (url !== '/') return;
    let left = 10;
    const beat = setInterval(() => {
      left -= 1;
      if (left > 0) return void response.write('.');
      clearInterval(beat);
      response.end('done');
    }, 60);
  };
  const silent = new RawClient(await secureOf(hasty)).send(REQUEST.replace('/', '/silent'));
  const lasting = new RawClient(await secureOf(hasty)).send(REQUEST);
  expect(await silent.rest()).toBe('');
  expect(await lasting.until(/done/)).toMatch(/done/);
  lasting.socket.destroy();
});

test('a stop answers what is under way, and ends the rest', async () => {
  const stopping = await startProxyBench({ proxy: FEW });
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  stopping.relay = async ({ url, response }) => {
    if (url === '/') {
      begun.resolve();
      await gate.promise;
    }
    response.end('done');
  };
  const busy = new RawClient(await secureOf(stopping)).send(REQUEST);
  const idle = new RawClient(await secureOf(stopping)).send(REQUEST.replace('/', '/idle'));
  await begun.promise;
  await idle.until(/done/);
  const stopped = stopping.stop();
  await idle.rest();
  gate.resolve();
  expect(await busy.rest()).toMatch(/^HTTP\/1.1 200 [\s\S]*done/);
  await stopped;
});
