// Connections that break, stall or lie: nothing happens by half, nothing hangs, nothing stays behind.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { mintSecret } from '../../src/core/keys/api-key.ts';
import { accountRows } from '../support/account-rows.ts';
import { byId, capabilities, createPlayer, endVideosAfter, httpCall, prepareExample } from '../support/capabilities.ts';
import { openRaw } from '../support/raw.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const endVideosOf = endVideosAfter(afterEach);
let service: TestService;
let account: TestAccount;
let call: Client;

beforeAll(async () => {
  // own service: counts the calls that run
  service = await startTestService();
  account = await createTestAccount(service.core);
  call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
});
afterAll(() => service.stop());

const head = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: here', ...headers, '', ''].join('\r\n');
const bearer = (secret: string) => `Authorization: Bearer ${secret}`;
const withBody = capabilities.filter(({ method }) => method !== 'GET').map(({ id }) => id);

const FOR_LONG = { timeout: 50_000, interval: 5 };

/** No call runs, and no answer waits to be read. */
function untilIdle(): Promise<void> {
  return vi.waitFor(() => expect(service.service.gateway.traffic.busy).toBe(false), FOR_LONG);
}

function untilRunning(): Promise<void> {
  return vi.waitFor(() => expect(service.service.gateway.traffic.busy).toBe(true), FOR_LONG);
}

/** What was sent before has been read: a request that came later is answered. */
async function untilRead(): Promise<void> {
  expect((await call('GET', '/v1/account/balance')).status).toBe(200);
}

describe('a body that never ends', () => {
  test.each(withBody)('%s: the connection breaks in the body, announced or chunked', async (id) => {
    const owner = await createPlayer(service.core, byId(id));
    const input = await prepareExample(endVideosOf(client(service.url, owner.secret)), byId(id));
    const before = await accountRows(service.core.db, owner.accountId);
    const { method, path, body = {} } = httpCall(byId(id), input);
    const text = JSON.stringify(body);
    const chunk = `${text.length.toString(16)}\r\n${text}\r\n`;
    for (const sent of [
      head(method, path, bearer(owner.secret), 'Content-Type: application/json', `Content-Length: ${text.length + 1}`) +
        text,
      head(method, path, bearer(owner.secret), 'Content-Type: application/json', 'Transfer-Encoding: chunked') + chunk,
    ]) {
      const raw = await openRaw(service.url);
      raw.send(sent);
      await untilRunning();
      raw.destroy();
    }
    await untilIdle();
    expect(await accountRows(service.core.db, owner.accountId)).toEqual(before);
  });

  test('the client ends its side in the body: nothing happens, and the connection ends', async () => {
    const raw = await openRaw(service.url);
    raw.send(`${head('POST', '/v1/queue/create', bearer(account.secret), 'Content-Length: 100')}{"name":"never-made"}`);
    await untilRunning();
    raw.destroy();
    await untilIdle();
    expect((await call('GET', '/v1/queue/get/never-made')).status).toBe(404);
  });

  test.each([
    ['without a key', 'X-None: 1', '401'],
    ['with a wrong key', 'Authorization: Bearer nonsense', '401'],
  ])('%s it is not waited for', async (_what, header, status) => {
    for (const length of ['Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
      const raw = await openRaw(service.url);
      raw.send(head('POST', '/v1/queue/batch/publish', header, length));
      expect((await raw.receive()).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
      raw.destroy();
    }
    await untilIdle();
  });

  test.each([
    ['/v1/nothing', '404'],
    ['/v1/account/balance', '405'],
  ])('at %s, which takes none, it is not waited for', async (path, status) => {
    for (const length of ['Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
      const raw = await openRaw(service.url);
      raw.send(head('POST', path, length));
      const text = await raw.receive((all) => all.includes('"worker_id"'));
      expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
      expect(text.toLowerCase()).toContain('connection: close');
      raw.destroy();
    }
  });

  test('too large a Content-Length is refused before the body comes', async () => {
    const raw = await openRaw(service.url);
    raw.send(head('POST', '/v1/queue/create', bearer(account.secret), 'Content-Length: 1048577'));
    expect((await raw.receive()).slice(0, 12)).toBe('HTTP/1.1 413');
    raw.destroy();
    await untilIdle();
  });

  test('a key revoked while the body is under way lets nothing through', async () => {
    const { body } = await call('POST', '/v1/account/keys/create', {});
    const text = JSON.stringify({ name: 'slipped-through' });
    const raw = await openRaw(service.url);
    raw.send(
      head('POST', '/v1/queue/create', bearer(body.data.key_secret), `Content-Length: ${text.length}`) +
        text.slice(0, 5),
    );
    // sleeps: who was found within the last 200 ms is not looked up again
    await sleep(250);
    await call('DELETE', `/v1/account/keys/revoke/${body.data.key_id}`);
    raw.send(text.slice(5));
    expect((await raw.receive()).slice(0, 12)).toBe('HTTP/1.1 401');
    raw.destroy();
    expect((await call('GET', '/v1/queue/get/slipped-through')).status).toBe(404);
  });
});

describe('a client that leaves', () => {
  test('while its key is looked up: its place is free again', async () => {
    for (const secret of [(await createTestAccount(service.core)).secret, mintSecret(service.core.secrets).secret]) {
      for (const length of ['Content-Length: 100', 'Transfer-Encoding: chunked', 'X-None: 1']) {
        const raw = await openRaw(service.url);
        raw.send(head('POST', '/v1/queue/create', bearer(secret), length));
        raw.destroy();
      }
    }
    await untilRead();
    await untilIdle();
  });

  test.each([0, 1, 20])('during a long poll, %i ms after it began: the poll ends', async (ms) => {
    const owner = await createTestAccount(service.core);
    await client(service.url, owner.secret)('POST', '/v1/queue/create', { name: 'jobs' });
    const poll = '{"queue":"jobs","wait_seconds":20}';
    const request = head('POST', '/v1/queue/consume', bearer(owner.secret), `Content-Length: ${poll.length}`);
    for (const times of [1, 3]) {
      const raw = await openRaw(service.url);
      raw.send(`${request}${poll}`.repeat(times));
      await sleep(ms);
      raw.destroy();
    }
    await untilRead();
    await untilIdle();
  });

  test('with pipelined requests waiting for their turn: their places are free again', async () => {
    const raw = await openRaw(service.url);
    raw.send(head('GET', '/v1/queue/get/jobs', bearer(account.secret)).repeat(20));
    raw.destroy();
    await untilRead();
    await untilIdle();
  });
});

describe('requests that are not HTTP, or hardly', () => {
  test.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a broken Content-Length', head('POST', '/v1/queue/create', 'Content-Length: abc')],
    ['two lengths', head('POST', '/v1/queue/create', 'Content-Length: 2', 'Content-Length: 3')],
    ['length and chunked', head('POST', '/v1/queue/create', 'Content-Length: 2', 'Transfer-Encoding: chunked')],
    ['a space in the path', 'GET /v1/a b HTTP/1.1\r\nHost: here\r\n\r\n'],
    ['headers beyond 16 KiB', head('GET', '/v1/account/balance', `X-Long: ${'a'.repeat(20_000)}`)],
  ])('%s: 4xx and the end of the connection', async (_what, bytes) => {
    const raw = await openRaw(service.url);
    raw.send(bytes);
    expect(await raw.receive()).toMatch(/^HTTP\/1\.1 4\d\d /);
    await vi.waitFor(() => expect(raw.closed).toBe(true), FOR_LONG);
  });

  test('a client that keeps its side open does not keep the socket', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let failed = false;
    socket.on('error', () => {
      failed = true;
    });
    socket.resume().write('GARBAGE\r\n\r\n');
    await once(socket, 'end');
    // What is written to a socket that the peer has closed, and not only ended, comes back as an error.
    await vi.waitFor(() => {
      socket.write('x');
      expect(failed).toBe(true);
    }, FOR_LONG);
  });

  test.each([
    '//',
    '//evil.example/v1/account/balance',
    '/v1/../v1/account/balance',
    '/V1/account/balance',
    '/v1/account/balance/',
  ])('GET %s is 404, in the envelope', async (path) => {
    const raw = await openRaw(service.url);
    raw.send(head('GET', path, bearer(account.secret), 'Connection: close'));
    const text = await raw.receive((all) => all.includes('"worker_id"'));
    expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(text).toMatch(/"code":"(NOT_FOUND|INVALID_REQUEST)"/);
    raw.destroy();
  });

  test('a whole URL as target is understood, and decides nothing', async () => {
    const raw = await openRaw(service.url);
    raw.send(head('GET', 'http://evil.example/v1/queue/get/nothing', bearer(account.secret), 'Connection: close'));
    const text = await raw.receive((all) => all.includes('"worker_id"'));
    expect(text).not.toContain('evil.example/docs');
    raw.destroy();
  });

  test('two requests in one packet get their answers in order', async () => {
    const raw = await openRaw(service.url);
    raw.send(
      head('GET', '/v1/queue/get/nothing', bearer(account.secret)) +
        head('GET', '/v1/queue/get/jobs', bearer(account.secret)),
    );
    const text = await raw.receive((all) => all.includes('"name":"jobs"'));
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['404', '200']);
    raw.destroy();
  });
});
