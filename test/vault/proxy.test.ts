// By proxy: who gets in, where a CONNECT leads, and what is relayed, by real sockets and real clients.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { problem } from '../../src/problems/problem.ts';
import { client, createTestAccount } from '../support/service.ts';
import {
  asCall,
  basicOf,
  closeClients,
  connect,
  fetchThrough,
  type ProxyBench,
  RawClient,
  type Relayed,
  sayWhatCame,
  secureOf,
  startProxyBench,
} from './proxy-harness.ts';

const run = promisify(execFile);
const curl = ['/usr/bin/curl', '/opt/homebrew/bin/curl'].find((path) => existsSync(path));

let bench: ProxyBench;
let folder: string;
let caFile: string;
beforeAll(async () => {
  bench = await startProxyBench();
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-proxy-'));
  caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, bench.ca);
});
afterAll(async () => {
  await bench?.stop();
  rmSync(folder, { recursive: true });
});
afterEach(closeClients);
beforeEach(() => {
  bench.relayed.length = 0;
  bench.relay = sayWhatCame;
});

const proxyOf = () => `http://qm:${bench.account.secret}@127.0.0.1:${bench.port}`;

describe.skipIf(curl === undefined)('curl', () => {
  const curlThrough = (...args: readonly string[]) =>
    run(curl as string, ['-sS', '--cacert', caFile, '--proxy', proxyOf(), ...args]);

  test('sends two requests by one CONNECT, of which the target sees nothing of the proxy', async () => {
    const url = 'https://api.example.org/v1/a%20b?c=d';
    const connects = ['-w', '%{num_connects} '];
    const { stdout } = await curlThrough(
      ...connects,
      '-d',
      'one',
      url,
      '--next',
      '--cacert',
      caFile,
      '--proxy',
      proxyOf(),
      ...connects,
      '-sS',
      url,
    );
    expect(stdout).toMatch(/\}1 \{.*\}0 $/);
    expect(bench.relayed).toMatchObject([
      {
        method: 'POST',
        secure: true,
        host: 'api.example.org',
        port: 443,
        url: '/v1/a%20b?c=d',
        bodyBytes: 3,
        connection: 'example',
      },
      { method: 'GET', bodyBytes: 0 },
    ]);
    expect(JSON.parse(stdout.slice(0, stdout.indexOf('}1 ') + 1))).toMatchObject({ body: 'one' });
    const names = bench.relayed.flatMap(({ headers }) => headers.map(([name]) => name.toLowerCase()));
    expect(new Set(names)).toEqual(new Set(['host', 'user-agent', 'accept', 'content-type', 'content-length']));
  });

  test('streams a body in chunks, and an address has a certificate, too', async () => {
    const large = join(folder, 'large');
    writeFileSync(large, 'x'.repeat(3_000_000));
    bench.relay = async ({ body, response }) => {
      let bytes = 0;
      for await (const piece of body) bytes += piece.length;
      response.end(String(bytes));
    };
    const { stdout } = await curlThrough('-T', large, '-H', 'transfer-encoding: chunked', 'https://203.0.113.7/up');
    expect(stdout).toBe('3000000');
    expect(bench.relayed).toMatchObject([{ method: 'PUT', host: '203.0.113.7', bodyBytes: null }]);
  });

  test('sends a body that it waits to send only where somebody reads it', async () => {
    const expecting = ['-v', '-H', 'expect: 100-continue', '--expect100-timeout', '60', '-d', 'body'];
    const read = await curlThrough(...expecting, 'https://api.example.org/');
    expect(read.stderr).toContain('< HTTP/1.1 100 Continue');
    expect(JSON.parse(read.stdout)).toMatchObject({ body: 'body' });
    expect(read.stdout.toLowerCase()).not.toContain('"expect"');
    bench.relay = async () => Promise.reject(problem('RATE_LIMITED'));
    const refused = await curlThrough(...expecting, 'https://api.example.org/');
    expect(refused.stderr).toContain('< HTTP/1.1 429 Too Many Requests');
    expect(refused.stderr).not.toContain('< HTTP/1.1 100');
  });

  test('is told why a host is refused', async () => {
    const failed = await curlThrough('-v', 'https://nowhere.example.org/').catch((error) => error);
    expect(failed.stderr).toContain(
      'HTTP/1.1 403 RULE_REFUSED: No connection that this key may use names nowhere.example.org:443.',
    );
  });
});

describe('who gets in', () => {
  test('nobody without a key, by 407', async () => {
    const { status, head } = await connect(bench, 'api.example.org:443', null);
    expect(status).toBe(407);
    expect(head).toMatch(/\r\nproxy-authenticate: Basic realm="Quartermaster"/);
    expect(head).toMatch(/\r\nx-qm-code: UNAUTHORIZED\r\n/);
  });

  test('a key as a bearer token', async () => {
    const { status } = await connect(bench, 'api.example.org:443', `Bearer ${bench.account.secret}`);
    expect(status).toBe(200);
  });

  test('not a key without the scope', async () => {
    const { secret } = await createTestAccount(bench.service.core, 1, ['queue:write']);
    const { status, head } = await connect(bench, 'api.example.org:443', basicOf(secret));
    expect({ status, head }).toMatchObject({
      status: 403,
      head: expect.stringContaining('x-qm-code: INSUFFICIENT_SCOPE'),
    });
  });

  test('a key that is revoked is refused in the connections that it has, too', async () => {
    bench.relay = asCall;
    const admin = await createTestAccount(bench.service.core, 1);
    const call = client(bench.service.url, admin.secret);
    const { key_id, key_secret } = (await call('POST', '/v1/account/keys/create', { name: 'short' })).body.data;
    const own = { ...bench, account: { ...admin, secret: key_secret } };
    const wire = new RawClient(await secureOf(own));
    const ask = 'GET /it HTTP/1.1\r\nHost: api.example.org\r\n\r\n';
    expect(await wire.send(ask).until(/carried/)).toMatch(/^HTTP\/1.1 200 /);
    await call('DELETE', `/v1/account/keys/revoke/${key_id}`);
    const told = await wire.send(ask).until(/HTTP\/1.1 401[\s\S]*INVALID_API_KEY: .*\n/);
    expect(told).toMatch(/HTTP\/1.1 401 [\s\S]*x-qm-code: INVALID_API_KEY/);
    expect((await connect(own)).status).toBe(407);
    expect((await fetchThrough({ ...bench, account: admin }, '/down')).status).toBe(503);
    const logged = async () => (await call('GET', '/v1/account/requests/list?entry_form=proxy')).body.data.items;
    await expect
      .poll(logged, { interval: 100 })
      .toMatchObject([{ capability: 'courier.carry', entry_form: 'proxy', path: '/down', status: 503 }]);
  });
});

describe('where a CONNECT leads', () => {
  test.each([
    ['nowhere.example.org:443', 403, 'RULE_REFUSED'],
    ['api.example.org:22', 403, 'RULE_REFUSED'],
    ['127.0.0.1:443', 403, 'RULE_REFUSED'],
    ['two.example.org:443', 409, 'STATE_CONFLICT'],
    ['127.1:443', 400, 'INVALID_REQUEST'],
    ['api.example.org', 400, 'INVALID_REQUEST'],
    ['api.example.org@nowhere.example.org:443', 400, 'INVALID_REQUEST'],
    ['/', 400, ''],
  ])('%s: %i %s', async (target, status, code) => {
    const told = await connect(bench, target);
    expect(told.status).toBe(status);
    expect(told.head).toContain(code);
    expect(bench.relayed).toEqual([]);
  });

  test('the certificate is for the host of the CONNECT, by a client that names none, too', async () => {
    const secure = await secureOf(bench, { servername: '', checkServerIdentity: () => undefined });
    expect(secure.getPeerCertificate().subjectaltname).toBe('DNS:api.example.org');
    expect(secure.alpnProtocol).toBe(false);
    secure.destroy();
  });

  test('TLS for another host fails, as does HTTP/2', async () => {
    await expect(secureOf(bench, { servername: 'other.example.org' })).rejects.toThrow();
    await expect(secureOf(bench, { ALPNProtocols: ['h2'] })).rejects.toThrow();
    const secure = await secureOf(bench, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(secure.alpnProtocol).toBe('http/1.1');
    secure.destroy();
  });

  test('what a client sends before it is answered is not lost', async () => {
    const socket = (await RawClient.open(bench.port)).socket;
    const { connect: connectTls } = await import('node:tls');
    const { Duplex } = await import('node:stream');
    let isAnswered = false;
    // Its first flight of TLS goes with the CONNECT.
    const eager = new Duplex({
      read() {},
      write(piece, _encoding, done) {
        const head = `CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\nProxy-Authorization: ${basicOf(bench.account.secret)}\r\n\r\n`;
        socket.write(isAnswered ? piece : Buffer.concat([Buffer.from(head), piece]), done);
        isAnswered = true;
      },
    });
    let head = '';
    socket
      .removeAllListeners('data')
      .setEncoding('latin1')
      .on('data', (text: string) => {
        if (head.endsWith('\r\n\r\n')) return void eager.push(Buffer.from(text, 'latin1'));
        head += text;
        const end = head.indexOf('\r\n\r\n') + 4;
        if (end > 3 && head.length > end) eager.push(Buffer.from(head.slice(end), 'latin1'));
        if (end > 3) head = head.slice(0, end);
      });
    const secure = connectTls({ socket: eager, ca: bench.ca, servername: 'api.example.org' });
    await once(secure, 'secureConnect');
    expect(head).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });
});

describe('a request within', () => {
  const ask = async (bytes: string) => {
    const wire = new RawClient(await secureOf(bench));
    const told = await wire.send(bytes).until(/\r\n\r\n/);
    wire.socket.destroy();
    return told;
  };
  const HOST = 'Host: api.example.org\r\n';

  test.each([
    ['another host', 421, 'GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n'],
    ['another port', 421, 'GET / HTTP/1.1\r\nHost: api.example.org:8443\r\n\r\n'],
    ['two hosts', 400, `GET / HTTP/1.1\r\n${HOST}Host: other.example.org\r\n\r\n`],
    ['the same host twice', 400, `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`],
    ['no host', 400, 'GET / HTTP/1.1\r\n\r\n'],
    ['no host in HTTP/1.0', 400, 'GET / HTTP/1.0\r\n\r\n'],
    ['an absolute address', 400, `GET https://api.example.org/ HTTP/1.1\r\n${HOST}\r\n`],
    ['an asterisk', 400, `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
    ['a CONNECT', 400, 'CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n'],
    ['a WebSocket', 501, `GET / HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ['two lengths', 400, `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    [
      'a length and chunks',
      400,
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['chunks that are not last', 400, `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ['chunks by a tab', 400, `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n`],
    ['a folded header', 400, `GET / HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`],
    ['a bare line feed', 400, `GET / HTTP/1.1\r\n${HOST}X-A: b\nX-B: c\r\n\r\n`],
    ['a bare carriage return', 400, `GET / HTTP/1.1\r\n${HOST}X-A: b\rX-B: c\r\n\r\n`],
    ['a null', 400, `GET / HTTP/1.1\r\n${HOST}X-A: \0\r\n\r\n`],
    ['a head too long', 431, `GET / HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(40_000)}\r\n\r\n`],
  ])('with %s is refused: %i', async (_what, status, bytes) => {
    expect(Number((await ask(bytes)).split(' ')[1])).toBe(status);
    expect(bench.relayed).toEqual([]);
  });

  test('keeps its headers in order, but for those that end at the proxy', async () => {
    await ask(
      `GET / HTTP/1.1\r\n${HOST}X-B: 1\r\nProxy-Authorization: Basic eA==\r\nConnection: keep-alive, x-gone\r\nX-Gone: 1\r\nTE: trailers\r\nx-b: 2\r\nUpgrade: h2c\r\n\r\n`,
    );
    expect(bench.relayed[0]?.headers).toEqual([
      ['Host', 'api.example.org'],
      ['X-B', '1'],
      ['x-b', '2'],
    ]);
  });

  test('sent ahead waits for the answer before', async () => {
    const gate = Promise.withResolvers<void>();
    bench.relay = async ({ url, response }) => {
      if (url === '/1') await gate.promise;
      response.end(url);
    };
    const wire = new RawClient(await secureOf(bench));
    wire.send([1, 2, 3].map((i) => `GET /${i} HTTP/1.1\r\n${HOST}\r\n`).join(''));
    await expect.poll(() => bench.relayed.length, { interval: 5 }).toBe(1);
    gate.resolve();
    const told = await wire.until(/\/3/);
    expect(told.match(/^\/\d/gm)).toEqual(['/1', '/2', '/3']);
    wire.socket.destroy();
  });

  test('sent ahead by the hundred ends the connection', async () => {
    bench.relay = () => new Promise(() => undefined);
    const wire = new RawClient(await secureOf(bench));
    wire.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    await expect.poll(() => bench.relayed.length, { interval: 5 }).toBe(1);
    wire.send(`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(100));
    expect(await wire.rest()).toBe('');
    expect(bench.relayed).toHaveLength(1);
    expect(bench.relayed[0]?.signal.aborted).toBe(true);
  });

  test('whose answer goes on after its end, and whose client leaves within a body, harm nothing', async () => {
    const called = Promise.withResolvers<AbortSignal>();
    bench.relay = async ({ response, signal }) => {
      response.end('done');
      response.write('more');
      called.resolve(signal);
    };
    expect((await fetchThrough(bench, '/late')).text).toBe('done');
    expect((await called.promise).aborted).toBe(false);
    bench.relay = async ({ body, signal }) => {
      body.resume();
      await once(signal, 'abort');
    };
    const wire = new RawClient(await secureOf(bench));
    wire.send(`POST / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`);
    await wire.until(/100 Continue/);
    wire.send('half').socket.destroy();
    await once((bench.relayed.at(-1) as Relayed).signal, 'abort');
    bench.relay = sayWhatCame;
    expect((await fetchThrough(bench, '/')).status).toBe(200);
  });

  test('whose client leaves is told', async () => {
    const called = Promise.withResolvers<AbortSignal>();
    bench.relay = async ({ signal }) => called.resolve(signal);
    const wire = new RawClient(await secureOf(bench));
    wire.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    const signal = await called.promise;
    expect(signal.aborted).toBe(false);
    wire.socket.destroy();
    await once(signal, 'abort');
  });

  test('that fails is told so by x-qm-code, and one whose answer has begun ends', async () => {
    bench.relay = async () => Promise.reject(new Error('something of the inside'));
    const failed = await fetchThrough(bench, '/');
    expect(failed).toMatchObject({ status: 500, headers: { 'x-qm-code': 'INTERNAL_ERROR' } });
    expect(failed.text).not.toContain('of the inside');
    bench.relay = async ({ response }) => {
      await new Promise((resolve) => response.writeHead(200, { 'content-length': '10' }).write('half', resolve));
      throw new Error('the target has left');
    };
    const wire = new RawClient(await secureOf(bench));
    expect(await wire.send(`GET / HTTP/1.1\r\n${HOST}\r\n`).rest()).toMatch(/half$/);
  });

  test('of a client that has sent all is answered', async () => {
    const secure = await secureOf(bench);
    const wire = new RawClient(secure);
    secure.end(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    expect(await wire.until(/"method":"GET"/)).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('a request without TLS', () => {
  const ask = async (line: string, headers: readonly string[] = []) => {
    const wire = await RawClient.open(bench.port);
    const shown = [`Proxy-Authorization: ${basicOf(bench.account.secret)}`, ...headers].join('\r\n');
    const told = await wire.send(`${line} HTTP/1.1\r\n${shown}\r\n\r\n`).until(/\r\n\r\n/);
    wire.socket.destroy();
    return { status: Number(told.split(' ')[1]), told };
  };

  test('of an absolute address is relayed, without the key', async () => {
    const { status } = await ask('GET http://api.example.org?a=b', ['Host: api.example.org', 'X-A: b']);
    expect(status).toBe(200);
    expect(bench.relayed).toMatchObject([{ secure: false, host: 'api.example.org', port: 80, url: '/?a=b' }]);
    expect(bench.relayed[0]?.headers).toEqual([
      ['Host', 'api.example.org'],
      ['X-A', 'b'],
    ]);
  });

  test.each([
    ['GET http://nowhere.example.org/', 'nowhere.example.org', 403],
    ['GET http://api.example.org/', 'nowhere.example.org', 421],
    ['GET http://user@api.example.org/', 'api.example.org', 400],
    ['GET http://api.example.org\\@nowhere.example.org/', 'api.example.org', 400],
    ['GET https://api.example.org/', 'api.example.org', 400],
    ['GET ftp://api.example.org/', 'api.example.org', 400],
    ['GET /', 'api.example.org', 400],
    ['GET //api.example.org/', 'api.example.org', 400],
  ])('%s of %s: %i', async (line, host, status) => {
    expect((await ask(line, [`Host: ${host}`])).status).toBe(status);
    expect(bench.relayed).toEqual([]);
  });

  test('and without a key: 407', async () => {
    const wire = await RawClient.open(bench.port);
    const told = await wire.send('GET http://api.example.org/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n').until(/\n$/);
    expect(told).toMatch(/^HTTP\/1.1 407 [\s\S]*proxy-authenticate: Basic/i);
    wire.socket.destroy();
  });
});

test('an address with many wrong keys is refused, and its right ones are not', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 30; i += 1)
    statuses.push((await connect(bench, 'api.example.org:443', basicOf('qm_wrong'))).status);
  expect(new Set(statuses.slice(0, 19))).toEqual(new Set([407]));
  expect(statuses.slice(-9)).toEqual(Array(9).fill(429));
  expect((await connect(bench)).status).toBe(200);
});
