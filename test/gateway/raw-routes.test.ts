// Raw routes on a real service and real sockets: bodies and answers as streams, ranges, credentials, calls, and what a stream costs.
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { BLOB_BYTES_MAX, type DepotState, depotModule } from './raw-fixture.ts';

const PIECE_NANOS = 10_000n;

const state: DepotState = { blobs: new Map(), taken: 0, gate: Promise.resolve(), made: 0 };
let bench: TestService;
let account: TestAccount;
let auth: Record<string, string>;

beforeAll(async () => {
  bench = await startTestService({ extraModules: [depotModule(state)], admission: { all: { streams: 4 } } });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  account = await createTestAccount(bench.core, 1);
  auth = { authorization: `Bearer ${account.secret}` };
  state.gate = Promise.resolve();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
const json = (answer: Response) => answer.json() as Promise<any>;
const books = async () => {
  const { rows } = await bench.core.db.query<{ balance: bigint; held: bigint; holds: bigint }>(
    {
      name: 'test_stream_books',
      text: `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
                    (SELECT count(*) FROM core.hold h WHERE h.account_id = $1 AND h.status = 'active') AS holds
               FROM core.wallet w WHERE w.account_id = $1`,
    },
    [account.accountId],
  );
  return rows[0];
};
const settled = async (pieces: bigint) =>
  expect.poll(books).toEqual({ balance: 1_000_000_000n - pieces * PIECE_NANOS, held: 0n, holds: 0n });
const usage = async () => {
  const { body } = await client(bench.url, account.secret)('GET', '/v1/account/usage?capability=depot.tell');
  return body.data;
};

describe('a body that is a stream', () => {
  test('arrives byte for byte, under a path of any depth', async () => {
    const bytes = randomBytes(5_000_000);
    const put = await fetch(`${bench.url}/depot/north/a%20b/c%2Fd/e`, { method: 'PUT', headers: auth, body: bytes });
    expect([put.status, await put.text()]).toEqual([201, createHash('sha256').update(bytes).digest('hex')]);
    expect(state.blobs.has('north/a b/c/d/e')).toBe(true);
    expect(
      (await fetch(`${bench.url}/depot/north/a%20b/c%2Fd/e`, { headers: auth })).headers.get('content-length'),
    ).toBe('5000000');
  });

  test('is read no faster than it is used', async () => {
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    state.taken = 0;
    const before = process.memoryUsage().arrayBuffers;
    const { hostname, port } = new URL(bench.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `PUT /depot/north/slow HTTP/1.1\r\nhost: x\r\nauthorization: ${auth.authorization}\r\ncontent-length: 8000000\r\n\r\n`,
    );
    const bytes = Buffer.alloc(8_000_000);
    const all = new Promise((resolve) => socket.write(bytes, resolve));
    // sleeps: what is taken without being asked for would be taken by now.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(state.taken).toBe(0);
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(process.memoryUsage().arrayBuffers - before - bytes.length).toBeLessThan(4_000_000);
    gate.resolve();
    await all;
    await expect.poll(() => state.blobs.get('north/slow')?.length).toBe(8_000_000);
    socket.destroy();
  });

  test('beyond the bound is refused, announced or not', async () => {
    const bytes = Buffer.alloc(BLOB_BYTES_MAX + 1);
    const url = `${bench.url}/depot/north/long`;
    const announced = await fetch(url, { method: 'PUT', headers: auth, body: bytes }).catch(() => null);
    if (announced !== null) expect(announced.headers.get('x-code')).toBe('PAYLOAD_TOO_LARGE');
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1_000_000) controller.enqueue(bytes.subarray(at, at + 1_000_000));
        controller.close();
      },
    });
    const piecewise = await fetch(url, { method: 'PUT', headers: auth, body, duplex: 'half' } as RequestInit).catch(
      () => null,
    );
    if (piecewise !== null) expect(piecewise.headers.get('x-code')).toBe('PAYLOAD_TOO_LARGE');
    expect(state.blobs.has('north/long')).toBe(false);
  });
});

describe('a content', () => {
  const url = () => `${bench.url}/depot/south/blob`;
  const bytes = randomBytes(300_000);
  beforeEach(() => void state.blobs.set('south/blob', bytes));
  const get = (headers: Record<string, string>, method = 'GET') =>
    fetch(url(), { method, headers: { ...auth, ...headers } });

  test('is answered whole, and in the part that is asked for', async () => {
    const whole = await get({});
    expect([whole.status, whole.headers.get('accept-ranges'), whole.headers.get('etag')]).toEqual([
      200,
      'bytes',
      '"one"',
    ]);
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await get({ range: 'bytes=100000-199999' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100000-199999/300000']);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100_000, 200_000))).toBe(true);
  });

  test('is whole again when it is another one than the client has', async () => {
    expect((await get({ range: 'bytes=0-9', 'if-range': '"one"' })).status).toBe(206);
    const changed = await get({ range: 'bytes=0-9', 'if-range': '"two"' });
    expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, 300_000]);
  });

  test('has no bytes beyond its end: 416 in the words of the route', async () => {
    const beyond = await get({ range: 'bytes=300000-' });
    expect([beyond.status, beyond.headers.get('content-range'), beyond.headers.get('x-code')]).toEqual([
      416,
      'bytes */300000',
      'RANGE_NOT_SATISFIABLE',
    ]);
  });

  test('is described without its bytes by HEAD', async () => {
    const head = await get({ range: 'bytes=0-9' }, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.headers.get('last-modified')]).toEqual([
      200,
      '300000',
      'Sun, 01 Nov 2026 00:00:00 GMT',
    ]);
  });
});

describe('credentials', () => {
  const put = (authorization: string) =>
    fetch(`${bench.url}/depot/x/y`, { method: 'PUT', headers: { authorization }, body: 'x' });
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test('of several kinds admit to one route; a wrong one is refused before the body', async () => {
    expect((await put(`Bearer ${account.secret}`)).status).toBe(201);
    expect((await put(`Basic ${base64(`${account.secret}:`)}`)).status).toBe(201);
    const wrong = await put(`Basic ${base64('someone:else')}`);
    expect([wrong.status, wrong.headers.get('x-code')]).toEqual([401, 'INVALID_API_KEY']);
  });

  test('without a scope for the route are refused', async () => {
    const narrow = await createTestAccount(bench.core, 1, ['queue']);
    expect((await put(`Bearer ${narrow.secret}`)).headers.get('x-code')).toBe('INSUFFICIENT_SCOPE');
  });

  test('of a protocol that only makes calls are asked for each call', async () => {
    const send = (secret: string, text: string) =>
      fetch(`${bench.url}/depot-lines`, {
        method: 'POST',
        headers: { authorization: `Basic ${base64(`any:${secret}`)}`, 'content-type': 'text/plain' },
        body: text,
      });
    const rest = client(bench.url, account.secret);
    await rest('POST', '/v1/queue/create', { name: 'jobs' });
    const payload = '{ "b":1.50, "a":[ ] }';
    const sent = await send(account.secret, `queue.publish\n{"queue":"jobs","payload":${payload}}`);
    expect([sent.status, (await json(sent)).metadata.cost_usd]).toEqual([200, 0.00002]);
    expect((await rest('POST', '/v1/queue/consume', { queue: 'jobs' })).text).toContain(`"payload":${payload}`);
    const narrow = await createTestAccount(bench.core, 1, ['queue:read']);
    const refused = await send(narrow.secret, 'queue.publish\n{"queue":"jobs","payload":{}}');
    expect((await json(refused)).error.code).toBe('INSUFFICIENT_SCOPE');
    expect((await send('nothing', 'queue.publish\n{}')).status).toBe(401);
  });
});

describe('a stream that costs', () => {
  const tell = (pieces: number, query = '', init: RequestInit = {}) =>
    fetch(`${bench.url}/depot-story/${pieces}${query}`, { method: 'POST', headers: auth, ...init });

  test('is charged for what was made of it, told in its last piece, and counted once', async () => {
    const answer = await tell(5);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const text = await answer.text();
    expect(text.match(/^data: piece/gm)).toHaveLength(5);
    expect(text).toContain('event: end\ndata: 50000\n\n');
    await settled(5n);
    expect(await usage()).toMatchObject({ request_count: 1, spend_usd: 0.00005 });
  });

  test('whose client leaves in the middle costs exactly what was made, and leaves no hold', async () => {
    const abort = new AbortController();
    state.gate = new Promise(() => undefined);
    await tell(1_000, '?pause=7', { signal: abort.signal });
    await expect.poll(() => state.made).toBe(7);
    expect(await books()).toMatchObject({ held: 10_000_000n, holds: 1n });
    abort.abort();
    await settled(7n);
    expect(await usage()).toMatchObject({
      request_count: 1,
      spend_usd: 0.00007,
    });
  });

  test('that breaks costs what was made; its connection is cut, so that no half passes for a whole', async () => {
    const answer = await tell(10, '?break');
    await expect(answer.text()).rejects.toThrow();
    await settled(3n);
  });

  test('that fails before its first piece is a failure with its own status, and costs nothing', async () => {
    const answer = await tell(10, '?broken');
    expect([answer.status, (await json(answer)).error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await settled(0n);
  });

  test('is refused before anything is made when the wallet does not cover the most that it may cost', async () => {
    account = await createTestAccount(bench.core, 0.001);
    auth = { authorization: `Bearer ${account.secret}` };
    state.made = 0;
    const answer = await tell(5);
    expect([answer.status, (await json(answer)).error.code, state.made]).toEqual([402, 'INSUFFICIENT_CREDIT', 0]);
  });

  test('says that it lives while nothing is made', async () => {
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    const reader = (await tell(2)).body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes(': wait\n\n: wait')) text += decoder.decode((await reader?.read())?.value);
    gate.resolve();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += decoder.decode(part.value);
    expect(text).toContain('event: end');
    await settled(2n);
  });

  test('takes a place of an account among streams: others still find one', async () => {
    state.gate = new Promise(() => undefined);
    const abort = new AbortController();
    const open = await Promise.all([tell(9, '', { signal: abort.signal }), tell(9, '', { signal: abort.signal })]);
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await tell(9);
    expect((await json(refused)).error.code).toBe('CONCURRENCY_LIMITED');
    const other = await createTestAccount(bench.core, 1);
    const theirs = await tell(9, '', { headers: { authorization: `Bearer ${other.secret}` }, signal: abort.signal });
    expect(theirs.status).toBe(200);
    abort.abort();
    await settled(2n);
  });
});
