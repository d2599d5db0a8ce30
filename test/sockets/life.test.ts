// How long a socket lives: as long as it answers, and as its principal may have it. It is counted and told of meanwhile.
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import type { Logger } from '../../src/core/process/logger.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type Line, openBare, openLine } from './client.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

const state = emptyParlor();
const told: Record<string, unknown>[] = [];
const tell = (line: unknown) => void told.push(line as Record<string, unknown>);
const log = { debug: tell, info: tell, warn: tell, error: tell, fatal: tell } as unknown as Logger;
let bench: TestService;
let other: TestService;
beforeAll(async () => {
  const webSocket = {
    lookEveryMs: 50,
    pingEveryMs: 200,
    pongWithinMs: 3_000,
    identifyWithinMs: 300,
    closeWithinMs: 200,
  };
  bench = await startTestService({ extraModules: [parlorModule(state)], log, admission: { webSocket } });
  // Its sockets live as long as they do anywhere.
  other = await startTestService({ database: bench.database, extraModules: [parlorModule(emptyParlor())], log });
});
afterAll(async () => {
  await other.stop();
  await bench.stop();
});

const open = ({ secret }: TestAccount, path = '/parlor/x'): Promise<Line> => openLine(bench.url, path, secret);
const metrics = async () => (await fetch(`${other.url}/metrics`)).text();

/** What it ends with. */
async function endedBy(line: Line, act: () => Promise<unknown>): Promise<[number, string]> {
  await act();
  const { code, reason } = await line.ended;
  return [code, reason];
}

test('who answers pings stays, however long', async () => {
  const line = await open(await createTestAccount(bench.core));
  let pings = 0;
  line.ws.on('ping', () => {
    pings += 1;
  });
  // One every 200 ms: who answers none is ended after 3 s.
  await expect.poll(() => pings).toBeGreaterThanOrEqual(20);
  expect(line.ws.readyState).toBe(line.ws.OPEN);
  line.ws.close();
});

test('pings of a client are answered, of many at once the first ones and the last', async () => {
  const line = await open(await createTestAccount(bench.core));
  const pongs: string[] = [];
  line.ws.on('pong', (data) => pongs.push(String(data)));
  for (let i = 0; i < 50; i += 1) line.ws.ping(String(i));
  await expect.poll(() => pongs.at(-1)).toBe('49');
  expect([pongs[0], pongs.length < 50]).toEqual(['0', true]);
  line.ws.close();
});

test('who answers none is ended', async () => {
  const account = await createTestAccount(bench.core);
  const line = await openBare(bench.url, '/parlor/x', account.secret);
  await expect.poll(() => line.closed).toBe(true);
  await expect.poll(() => told.at(-1)).toMatchObject({ route: 'parlor.room', end: 'silent' });
});

test('a module that is busy with a message does not end the socket that it reads nothing from', async () => {
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const account = await createTestAccount(bench.core);
  const line = await open(account);
  line.ws.send('wait');
  line.ws.send('after');
  await expect.poll(() => state.said.at(-1)).toBe('wait');
  const silent = await openBare(bench.url, '/parlor/x', account.secret);
  await expect.poll(() => silent.closed).toBe(true);
  gate.resolve();
  expect([await line.next(), await line.next()]).toEqual(['wait', 'after']);
  line.ws.close();
});

test('who does not identify itself in time is closed; who has, stays', async () => {
  const account = await createTestAccount(bench.core);
  const [silent, known] = await Promise.all([0, 1].map(() => openLine(bench.url, '/parlor-later', null)));
  expect(await known?.ask(`key ${account.secret}`)).toBe(account.keyId);
  expect(await silent?.ended).toEqual({ code: 1008, reason: 'UNAUTHORIZED' });
  expect(await known?.ask('still')).toBe('still');
  known?.ws.close();
});

// Revoking a key takes more than a second: side by side.
test.concurrent.each([
  ['here', () => bench],
  ['in another process', () => other],
] as const)('a key that is revoked %s ends its sockets', async (_name, where) => {
  const account = await createTestAccount(bench.core);
  const admin = await createTestAccountKey(account);
  const line = await open(admin);
  const revoke = () => client(where().url, account.secret)('DELETE', `/v1/account/keys/revoke/${admin.keyId}`);
  expect(await endedBy(line, revoke)).toEqual([1008, 'INVALID_API_KEY']);
});

test('a key that is narrowed below the route ends its sockets; within it, they know', async () => {
  const account = await createTestAccount(bench.core);
  const narrowed = await createTestAccountKey(account);
  const line = await open(narrowed);
  const scope = (scopes: string[]) => () =>
    client(bench.url, account.secret)('PATCH', `/v1/account/keys/update/${narrowed.keyId}`, { scopes });
  await scope(['parlor'])();
  await expect.poll(() => line.ask('call account.balance')).toContain('INSUFFICIENT_SCOPE');
  expect(await endedBy(line, scope(['queue']))).toEqual([1008, 'INSUFFICIENT_SCOPE']);
});

test('a key that expires ends its sockets', async () => {
  const account = await createTestAccount(bench.core);
  const line = await open(await createTestAccountKey(account, new Date(Date.now() + 3_600_000).toISOString()));
  expect(await endedBy(line, () => bench.advance(3_700))).toEqual([1008, 'INVALID_API_KEY']);
});

test('an account that is suspended loses its sockets, those of others stay', async () => {
  const account = await createTestAccount(bench.core);
  const [line, well] = [await open(account), await open(await createTestAccount(bench.core))];
  const marketLine = await open(account, '/parlor-market');
  const suspend = () => other.core.db.transaction((tx) => setSuspended(tx, account.accountId, true));
  expect(await endedBy(line, suspend)).toEqual([1008, 'ACCOUNT_SUSPENDED']);
  expect(await marketLine.ended).toEqual({ code: 1008, reason: 'ACCOUNT_SUSPENDED' });
  expect(await well.ask('hello')).toBe('hello');
  well.ws.close();
});

test('a client that does not answer the close frame is ended', async () => {
  const account = await createTestAccount(bench.core);
  const line = await openBare(bench.url, '/parlor/x', account.secret);
  [...state.open].find((socket) => socket.principal?.id === account.keyId)?.close(4000, 'go');
  expect(await line.receive((text) => text.includes('go'))).toContain('go');
  await expect.poll(() => line.closed).toBe(true);
});

test('open sockets are counted by route, with what closed them, and their ends are logged', async () => {
  await expect.poll(() => state.open.size).toBe(0);
  const line = await openLine(other.url, '/parlor/x', (await createTestAccount(other.core)).secret);
  expect(await metrics()).toMatch(/^qm_web_sockets\{route="parlor.room"\} 1$/m);
  expect(await metrics()).toMatch(/^qm_calls_total\{capability="parlor.room",status="101"\} /m);
  await line.ask('hello');
  line.ws.close(4007);
  await expect.poll(metrics).toMatch(/^qm_web_sockets\{route="parlor.room"\} 0$/m);
  expect(await metrics()).toMatch(/^qm_web_sockets_closed_total\{route="parlor.room",end="client"\} /m);
  const counts = { messages_in: 1, messages_out: 1, bytes_in: expect.any(Number), bytes_out: expect.any(Number) };
  const request_id = told.findLast((each) => 'address' in each)?.request_id;
  expect(told.at(-1)).toEqual({
    request_id,
    route: 'parlor.room',
    code: 4007,
    end: 'client',
    ms: expect.any(Number),
    ...counts,
  });
});

test('a socket is told of its end by its signal', async () => {
  const account = await createTestAccount(bench.core);
  const line = await open(account);
  const socket = [...state.open].find((each) => each.principal?.id === account.keyId);
  const aborted = once(socket?.signal as AbortSignal, 'abort');
  line.ws.terminate();
  await aborted;
  expect(socket?.send('late')).toBe(false);
});

/** A further key of the account. */
async function createTestAccountKey(account: TestAccount, expires_at?: string): Promise<TestAccount> {
  const { body } = await client(bench.url, account.secret)('POST', '/v1/account/keys/create', {
    name: 'second',
    ...(expires_at === undefined ? {} : { expires_at }),
  });
  return { accountId: account.accountId, keyId: body.data.key_id, secret: body.data.secret };
}
