// Before 101: path, handshake, origin, key, scope and rate are asked, and whatever is refused is told by an ordinary answer.
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRaw } from '../support/raw.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { frame, handshake, type Line, openLine, refusalOf } from './client.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

const state = emptyParlor();
let bench: TestService;
let account: TestAccount;
let secret: string;
beforeAll(async () => {
  bench = await startTestService({
    extraModules: [parlorModule(state)],
    env: { RATE_LIMITS: 'on' },
    admission: {
      connection: { headersTimeoutMs: 500, headersLookEveryMs: 100 },
      all: { unidentifiedWebSockets: 4 },
      account: { webSocketsMax: 3 },
      address: { webSocketsMax: 6 },
    },
  });
  account = await createTestAccount(bench.core);
  secret = account.secret;
});
afterAll(() => bench.stop());

const open = (path: string, key: string | null = secret, options = {}) => openLine(bench.url, path, key, options);
const refused = (path: string, key: string | null = secret, options = {}) => refusalOf(open(path, key, options));
async function close(...lines: Line[]): Promise<void> {
  const left = state.open.size - lines.length;
  for (const { ws } of lines) ws.close();
  await Promise.all(lines.map(({ ended }) => ended));
  await expect.poll(() => state.open.size).toBe(left);
}

test('a socket knows the head of its request and its principal, and calls capabilities', async () => {
  const line = await open('/parlor/a%20b?q=c');
  expect(await line.ask('where')).toBe('[{"room":"a b"},"c",""]');
  expect(await line.ask('who')).toBe(account.keyId);
  expect(JSON.parse(await line.ask('call account.balance'))).toMatchObject({ ok: true });
  await close(line);
  expect(state.closed).toEqual([1005]);
});

test('text stays text and bytes stay bytes', async () => {
  const line = await open(`/parlor/x?token=${secret}`, null);
  const kinds: boolean[] = [];
  line.ws.on('message', (_data, isBinary) => kinds.push(isBinary));
  line.ws.send(Buffer.from([0, 255, 1]));
  line.ws.send('ä');
  expect([await line.next(), await line.next(), kinds]).toEqual(['\0\ufffd\x01', 'ä', [true, false]]);
  await close(line);
});

test('the preferred subprotocol is spoken; of none that is known, none', async () => {
  const none = await open('/parlor-market');
  expect(none.ws.protocol).toBe('');
  await close(none);
  const line = await open('/parlor-market', secret, { protocols: ['loud', 'fair'] });
  expect(line.ws.protocol).toBe('fair');
  await close(line);
});

test.each([
  ['no key', '/parlor/x', null, 401, 'UNAUTHORIZED'],
  ['a wrong key', '/parlor/x', 'qm_live_wrong', 401, 'INVALID_API_KEY'],
  ['a path that is none', '/parlor/x/y', null, 404, 'NOT_FOUND'],
  ['a capability', '/v1/account/balance', null, 400, 'INVALID_REQUEST'],
  ['a document', '/llms.txt', null, 400, 'INVALID_REQUEST'],
  ['health', '/healthz', null, 400, 'INVALID_REQUEST'],
] as const)('%s is refused by the envelope', async (_name, path, key, status, code) => {
  const { body, headers, ...answer } = await refused(path, key);
  expect([answer.status, body.error.code, headers.connection]).toEqual([status, code, 'close']);
  expect(headers['x-request-id']).toMatch(/^req_/);
});

test('a key without the scope is refused', async () => {
  const { secret: narrow } = await createTestAccount(bench.core, 0, ['queue']);
  const { status, body } = await refused('/parlor/x', narrow);
  expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
});

test('a page of another site is refused, unless the route is for all sites', async () => {
  const { origin, host } = new URL(bench.url);
  for (const [path, from, status] of [
    ['/parlor/x', 'https://evil.example', 400],
    ['/parlor/x', 'null', 400],
    ['/parlor/x', origin, 101],
    ['/parlor-market', 'https://evil.example', 101],
  ] as const) {
    const opening = open(path, secret, { origin: from });
    if (status === 101) await close(await opening);
    else expect((await refusalOf(opening)).body.error.code_detail).toBe('origin');
  }
  // A name that was made to lead here.
  const rebound = await refused('/parlor/x', secret, {
    origin: 'http://evil.example',
    headers: { host: 'evil.example' },
  });
  expect(rebound.body.error.code_detail).toBe('origin');
  expect(host).toMatch(/^127/);
});

test('a request that asks for no socket gets 426, and its connection goes on', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = (headers: Record<string, string>) =>
    new Promise<[number | undefined, string | undefined, number | undefined]>((resolve) => {
      request(`${bench.url}/parlor/x`, { agent, headers }, (answer) => {
        answer.resume();
        const { localPort } = answer.socket;
        answer.once('end', () => resolve([answer.statusCode, answer.headers.upgrade, localPort]));
      }).end();
    });
  const [status, upgrade, port] = await get({});
  expect([status, upgrade]).toEqual([426, 'websocket']);
  expect(await get({ upgrade: 'h2c', connection: 'upgrade' })).toEqual([426, 'websocket', port]);
  agent.destroy();
});

test.each([
  ['another version', handshake('/parlor/x', 'x').replace('Version: 13', 'Version: 12'), '426'],
  ['no key', handshake('/parlor/x', 'x').replace('dGhlIHNhbXBsZSBub25jZQ==', 'short'), '400'],
  ['protocols twice', handshake('/parlor/x', 'x', 'Sec-WebSocket-Protocol: a, a\r\n'), '400'],
  ['a protocol that is none', handshake('/parlor/x', 'x', 'Sec-WebSocket-Protocol: a b\r\n'), '400'],
  ['another method', handshake('/parlor/x', 'x').replace('GET', 'POST'), '405'],
  ['a body', handshake('/parlor/x', 'x', 'Content-Length: 1\r\n\r\nx'), '426'],
])('a handshake with %s is answered', async (_name, head, status) => {
  const raw = await openRaw(bench.url);
  raw.send(`${head}\r\n`);
  expect(await raw.receive()).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  raw.destroy();
});

test('a half handshake ends with the bound of heads', async () => {
  const raw = await openRaw(bench.url);
  raw.send(handshake('/parlor/x', secret));
  expect(await raw.receive(() => false)).toMatch(/^HTTP\/1.1 400/);
  expect(raw.closed).toBe(true);
});

test('a handshake behind a call that runs is one more request', async () => {
  const raw = await openRaw(bench.url);
  raw.send(`GET /v1/account/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
  raw.send(`${handshake('/parlor/x', secret)}\r\n`);
  const text = await raw.receive((all) => all.includes('UPGRADE_REQUIRED'));
  expect(text).toMatch(/^HTTP\/1.1 200[\s\S]*HTTP\/1.1 426/);
  raw.destroy();
});

test('frames right behind the handshake are heard', async () => {
  const raw = await openRaw(bench.url);
  const head = Buffer.from(`${handshake('/parlor/x', secret)}\r\n`);
  raw.send(Buffer.concat([head, frame(1, Buffer.from('one')), frame(1, Buffer.from('two'))]));
  expect(await raw.receive((all) => all.includes('two'))).toMatch(/^HTTP\/1.1 101[\s\S]*one[\s\S]*two$/);
  raw.destroy();
  await expect.poll(() => state.open.size).toBe(0);
});

test('an account has so many, an address so many, and a closed one makes room', async () => {
  const lines = [await open('/parlor/1'), await open('/parlor/2'), await open('/parlor/3')];
  const beyond = await refused('/parlor/4');
  expect([beyond.status, beyond.body.error.code, beyond.headers['retry-after']]).toEqual([
    429,
    'CONCURRENCY_LIMITED',
    '5',
  ]);
  const other = await createTestAccount(bench.core);
  for (const path of ['/parlor/5', '/parlor/6', '/parlor/7']) lines.push(await open(path, other.secret));
  const third = await createTestAccount(bench.core);
  expect((await refused('/parlor/8', third.secret)).body.error.message).toMatch(/^This address/);
  await close(...lines.splice(0, 1));
  lines.push(await open('/parlor/9', third.secret));
  await close(...lines);
});

test('those that have not identified themselves have few places, and leave them when they have', async () => {
  const first = await open('/parlor-later', null);
  const second = await open('/parlor-later', null);
  expect((await refused('/parlor-later', null)).status).toBe(429);
  expect(await first.ask('who')).toBe('nobody');
  expect(await first.ask('key wrong')).toBe('INVALID_API_KEY');
  const { secret: narrow } = await createTestAccount(bench.core, 0, ['queue']);
  expect(await first.ask(`key ${narrow}`)).toBe('INSUFFICIENT_SCOPE');
  expect(await first.ask(`key ${secret}`)).toBe(account.keyId);
  const third = await open('/parlor-later', null);
  await close(first, second, third);
  await close(await open('/parlor-later', null), await open('/parlor-later', null));
});

test('a handshake takes of the rate of its account', async () => {
  const { accountId, secret: hasty } = await createTestAccount(bench.core);
  await bench.service.gateway.limiter?.spend(accountId, 'standard', 'reads', 1_000);
  const limited = await refused('/parlor/x', hasty);
  expect([limited.status, limited.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect((await refused('/parlor-market', hasty)).body.error.code).toBe('RATE_LIMITED');
});
