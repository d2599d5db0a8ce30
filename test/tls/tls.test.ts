// TLS ends in the service: HTTP/1.1 and HTTP/2 answer alike, streams stream, WebSockets open, and the certificate is changed under way.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Logger } from '../../src/core/process/logger.ts';
import { selfSigned } from '../outbound/certificate.ts';
import { emptyParlor, parlorModule } from '../sockets/parlor.ts';
import { freePort } from '../support/process.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { ask, h2 } from './h2.ts';

const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tls-'));
const files = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
const first = selfSigned(['localhost'], ['127.0.0.1']);
let redirectPort: number;
let bench: TestService;
const told: unknown[] = [];
const tell = (line: unknown) => void told.push(line);
const log = { debug: tell, info: tell, warn: tell, error: tell, fatal: tell } as unknown as Logger;
let account: TestAccount;
let session: ClientHttp2Session;
let agent: Agent;

function write({ cert, key }: { cert: string; key: string }): void {
  writeFileSync(files.TLS_CERT, cert);
  writeFileSync(files.TLS_KEY, key);
}

beforeAll(async () => {
  write(first);
  redirectPort = await freePort();
  const env = { ...files, TLS_REDIRECT_PORT: String(redirectPort) };
  bench = await startTestService({ env, log, extraModules: [parlorModule(emptyParlor())] });
  account = await createTestAccount(bench.core);
  session = h2(bench.url, first.cert);
  agent = new Agent({ connect: { ca: first.cert } });
  await call('/v1/queue/create', { name: 'jobs' });
  await call('/v1/storage/bucket/create', { bucket: 'things' });
});
afterAll(async () => {
  session?.close();
  await agent?.close();
  await bench?.stop();
  rmSync(folder, { recursive: true });
});

const bearer = () => ({ authorization: `Bearer ${account.secret}` });
const json = () => ({ ...bearer(), 'content-type': 'application/json' });
const post = (path: string) => ({ ':method': 'POST', ':path': path, ...json() });

async function call(path: string, body: object) {
  const options = { method: 'POST', headers: json(), body: JSON.stringify(body), dispatcher: agent } as const;
  const { statusCode, body: answer } = await request(bench.url + path, options);
  return { status: statusCode, body: (await answer.json()) as { data: Record<string, unknown> } };
}

test('the public address is https, and one call is answered alike by HTTP/1.1 and HTTP/2', async () => {
  expect(bench.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const body = { queue: 'jobs', payload: { n: 1 } };
  const one = await call('/v1/queue/publish', body);
  const two = await ask(session, post('/v1/queue/publish'), JSON.stringify(body));
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(Object.keys(JSON.parse(String(two.body)).data)).toEqual(Object.keys(one.body.data));
  expect(two.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  expect(two.headers).not.toHaveProperty('connection');
});

test('a hundred calls at once on one connection are each answered with their own', async () => {
  const asked = Array.from({ length: 100 }, (_, n) =>
    ask(
      session,
      post('/v1/queue/publish'),
      JSON.stringify({ queue: 'jobs', payload: { n }, idempotency_key: `many-${n}` }),
    ),
  );
  const ids = (await Promise.all(asked)).map(({ status, body }) => [status, JSON.parse(String(body)).data.message_id]);
  expect(ids.every(([status]) => status === 200)).toBe(true);
  expect(new Set(ids.map(([, id]) => id)).size).toBe(100);
});

test.each([
  ['GET', '/healthz', 200],
  ['HEAD', '/docs', 200],
  ['GET', '/nowhere', 404],
  ['DELETE', '/v1/queue/none', 404],
  ['GET', '/v1/account/tier', 401],
] as const)('%s %s is %d', async (method, path, status) => {
  const answer = await ask(session, { ':method': method, ':path': path });
  expect(answer.status).toBe(status);
  expect(answer.body.length > 0).toBe(method !== 'HEAD');
});

test('what HTTP/1.1 cannot carry ends its stream and no other', async () => {
  await expect(ask(session, { ':method': 'GET', ':path': '/a\u0001b' })).rejects.toThrow();
  expect((await ask(session, { ':method': 'GET', ':path': '/healthz' })).status).toBe(200);
});

test('a long body streams in and out, byte for byte', async () => {
  const bytes = randomBytes(24 * 1024 * 1024);
  const put = await ask(
    session,
    {
      ':method': 'PUT',
      ':path': '/v1/storage/upload/things/long',
      ...bearer(),
      'content-type': 'application/octet-stream',
      'content-length': bytes.length,
    },
    bytes,
  );
  expect({ status: put.status, body: put.status === 200 ? '' : String(put.body) }).toEqual({ status: 200, body: '' });
  const signed = await call('/v1/storage/presign', { bucket: 'things', key: 'long', method: 'GET' });
  const { pathname, search } = new URL(signed.body.data.url as string);
  const got = await ask(session, { ':method': 'GET', ':path': pathname + search });
  expect(got.status).toBe(200);
  expect(got.body.equals(bytes)).toBe(true);
});

test('a body that is refused before it is read whole is answered, and the client stops', async () => {
  const put = { ':method': 'PUT', ':path': '/v1/storage/upload/things/none', ...bearer() };
  const refused = await ask(session, put, randomBytes(4 * 1024 * 1024));
  expect([refused.status, JSON.parse(String(refused.body)).error.code]).toEqual([400, 'INVALID_REQUEST']);
});

test('pieces of an answer arrive as they are made, and a client that leaves ends the call', async () => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: '[[slow]] Tell me.' }], stream: true });
  const stream = session.request(post('/v1/chat/completions'));
  stream.end(body);
  const [piece] = (await once(stream, 'data')) as [Buffer];
  expect(String(piece)).toMatch(/^data: /);
  expect(stream.closed).toBe(false);
  stream.close();
  await once(stream, 'close');
  await vi.waitFor(() => expect(bench.service.gateway.traffic.busy).toBe(false), 50_000);
});

test('a long poll waits and is answered by the message', async () => {
  expect((await call('/v1/queue/create', { name: 'waited-for' })).status).toBe(200);
  const polling = ask(session, post('/v1/queue/consume'), JSON.stringify({ queue: 'waited-for', wait_seconds: 15 }));
  await vi.waitFor(() => expect(bench.service.gateway.traffic.busy).toBe(true), 50_000);
  await call('/v1/queue/publish', { queue: 'waited-for', payload: { here: true } });
  expect(JSON.parse(String((await polling).body)).data.items).toMatchObject([{ payload: { here: true } }]);
});

test('WebSockets open by HTTP/1.1 over TLS', async () => {
  const ws = new WebSocket(`${bench.url.replace('https', 'wss')}/parlor/red?token=${account.secret}`, {
    ca: first.cert,
  });
  await once(ws, 'open');
  ws.send('hello');
  expect(String((await once(ws, 'message'))[0])).toBe('hello');
  ws.close();
  await once(ws, 'close');
});

test('plain HTTP is sent to the public address, whatever host it names', async () => {
  const { statusCode, headers } = await request(`http://127.0.0.1:${redirectPort}/docs?a=b`, {
    headers: { host: 'evil.example' },
  });
  expect([statusCode, headers.location]).toEqual([308, `${bench.url}/docs?a=b`]);
});

test('bytes that are no TLS end their connection', async () => {
  await expect(request(bench.url.replace('https', 'http'))).rejects.toThrow();
  expect((await ask(session, { ':method': 'GET', ':path': '/healthz' })).status).toBe(200);
});

async function shown(): Promise<PeerCertificate> {
  const { hostname, port } = new URL(bench.url);
  const socket: TLSSocket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}

test('a new certificate is taken while connections go on, and a bad one is not', async () => {
  const before = (await shown()).fingerprint256;
  const second = selfSigned(['localhost'], ['127.0.0.1']);
  write({ cert: second.cert, key: 'no key' });
  await expect.poll(() => told).toContainEqual(expect.stringMatching(/^the TLS certificate in use stays: /));
  expect((await shown()).fingerprint256).toBe(before);
  write(second);
  await vi.waitFor(async () => expect((await shown()).fingerprint256).not.toBe(before), 50_000);
  expect((await ask(session, { ':method': 'GET', ':path': '/healthz' })).status).toBe(200);
});
