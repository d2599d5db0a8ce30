// Whatever is sent to the Sentry endpoints: an answer below 500, no hang, no key in the log, no secret in the database.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

let bench: SentryBench;
let running: ServiceProcess;
beforeAll(async () => {
  const own = await ErrorsBench.start();
  // The calls go to a process of its own, since its log can be read as a whole.
  const env = { DATABASE_URL: own.service.database.url, SECRETS_KEY, TEST_CLOCK: 'on', LOG_LEVEL: 'trace' };
  running = await startProcess(await createPlace(env));
  bench = await SentryBench.of(new ErrorsBench({ ...own.service, url: running.url }, own.account));
});
afterAll(async () => {
  await running.end('SIGTERM');
  await running.place.remove();
  await bench.service.stop();
});

const event = (fields: Record<string, unknown> = {}) => ({ event_id: eventId(), message: 'it broke', ...fields });

const piece = fc.oneof(
  fc
    .constantFrom(
      '{}',
      '{"type":"event"}',
      '{"type":"event","length":20}',
      '{"type":"attachment","length":3}',
      '',
      '\n',
      '[',
      '{"event_id":"0"}',
      '{"message":"x"}',
      'null',
      '\r',
      '\0',
      '{"dsn":5}',
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom(
      {},
      { exception: 5 },
      { exception: { values: [{ stacktrace: { frames: [null, 5, {}] } }] } },
      { tags: [[]] },
      { breadcrumbs: 'x' },
      { timestamp: -1e308 },
      { fingerprint: [null] },
      { user: [] },
      { message: '\ud800\0' },
    )
    .map((fields) => envelope(event(fields))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
);
const change = fc.record({
  at: fc.nat({ max: 500 }),
  remove: fc.nat({ max: 20 }),
  add: fc.uint8Array({ maxLength: 20 }),
});
const hostileBody = fc
  .record({ pieces: fc.array(piece, { maxLength: 6 }), changes: fc.array(change, { maxLength: 3 }) })
  .map(({ pieces, changes }) => {
    const lines = pieces.flatMap((bytes) => [bytes, Buffer.from('\n')]);
    return changes.reduce(
      (body, { at, remove, add }) =>
        Buffer.concat([body.subarray(0, at), Buffer.from(add), body.subarray(at + remove)]),
      Buffer.concat(lines),
    );
  });
/** A sound envelope around an event whose fields hold anything. */
const fields = [
  'exception',
  'message',
  'tags',
  'user',
  'contexts',
  'request',
  'breadcrumbs',
  'extra',
  'level',
  'release',
  'platform',
];
const oddEvent = fc
  .dictionary(fc.constantFrom(...fields), fc.jsonValue({ stringUnit: 'binary' }))
  .map((odd) => envelope({ event_id: eventId(), ...odd }));
const packed = fc.constantFrom<[string, (body: Buffer) => Buffer]>(
  ['', (body) => body],
  ['gzip', zlib.gzipSync],
  ['gzip', (body) => body],
  ['br', zlib.brotliCompressSync],
  ['deflate', (body) => zlib.deflateSync(body).subarray(0, -3)],
);

test('any bytes are answered below 500, in the form that SDKs know', async () => {
  const statuses = new Map<number, number>();
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('envelope', 'store'),
      fc.oneof(hostileBody, oddEvent),
      packed,
      async (end, body, [encoding, pack]) => {
        const headers: Record<string, string> = encoding === '' ? {} : { 'content-encoding': encoding };
        const reply = await bench.post(bench.url(end), pack(body), headers);
        count(reply.status);
        expect(reply.status).toBeLessThan(500);
        expect(reply.headers.get('access-control-allow-origin')).toBe('*');
        if (reply.status === 200) expect(Object.keys(reply.body).filter((name) => name !== 'id')).toEqual([]);
        else expect(reply.body).toMatchObject({ detail: expect.any(String), code: expect.stringMatching(/^[A-Z_]+$/) });
      },
    ),
    { numRuns: 500 },
  );
  expect(statuses.get(200)).toBeGreaterThan(20);
  expect(statuses.get(400)).toBeGreaterThan(50);
});

test('clients that leave in the middle of a body, or send nothing more, keep nobody else waiting', async () => {
  const sockets = Array.from({ length: 40 }, () => connect(Number(new URL(running.url).port), '127.0.0.1'));
  for (const [i, socket] of sockets.entries()) {
    socket.on('error', () => undefined);
    const query = i % 2 === 0 ? `?sentry_key=${bench.dsnKey}` : '';
    socket.write(
      `POST /v1/errors/sentry/api/1/envelope/${query} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"dsn`,
    );
    await once(socket, 'connect');
  }
  // sleeps: the service has read their heads.
  await sleep(100);
  for (const socket of sockets.slice(0, 20)) socket.destroy();
  // Their places are free once the service has seen that they left.
  await vi.waitFor(async () => {
    const reply = await bench.sendEvent(event());
    expect(reply.status, reply.text).toBe(200);
  }, 50_000);
  for (const socket of sockets) socket.destroy();
});

test('bodies without a key fill no place of calls with one', async () => {
  const port = Number(new URL(running.url).port);
  const head = 'POST /v1/errors/sentry/api/1/envelope/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n';
  const sent = head + 'x'.repeat(3_900_000);
  let refused = 0;
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.on('error', () => undefined);
    return socket.once('data', (data) => {
      if (String(data).startsWith('HTTP/1.1 429 ')) refused += 1;
    });
  });
  // How many are refused hangs on how many have been given up for want of more bytes.
  await vi.waitFor(() => expect(refused).toBeGreaterThan(0), 50_000);
  expect((await bench.sendEvent(event())).status).toBe(200);
  expect((await bench.call('POST', '/v1/errors/capture', { message: 'x' })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('secrets in the places where SDKs put them are gone before anything is stored', async () => {
  const planted: string[] = [];
  const plant = (before = '', after = '') => {
    const secret = randomBytes(9).toString('hex');
    planted.push(secret);
    return `${before}${secret}${after}`;
  };
  const frame = () => ({ filename: 'a.py', vars: { api_key: plant(), config: { db_password: plant() } } });
  const sent = event({
    message: undefined,
    logentry: { message: 'login with password=%s', formatted: `login with password=${plant()}`, params: [] },
    exception: {
      values: [
        { type: 'Cause', value: `postgres://app:${plant()}@db/x`, stacktrace: { frames: [frame()] } },
        { type: 'AuthError', value: `token=${plant()}`, stacktrace: { frames: [frame()] } },
      ],
    },
    request: {
      url: `https://shop.example/pay?access_token=${plant()}`,
      query_string: [['api_key', plant()]],
      cookies: [['sid', plant()]],
      headers: [
        ['Authorization', plant('Bearer ')],
        ['X-Api-Key', plant()],
      ],
      data: { card: { number: '4111 1111 1111 1111' }, password: plant() },
    },
    breadcrumbs: { values: [{ message: `GET /?token=${plant()}`, data: { Authorization: plant('Basic ') } }] },
    contexts: { session: { secret: plant() } },
    extra: { jwt: `eyJhbGciOiJIUzI1NiJ9.${plant()}.${plant()}` },
    tags: [['session_id', plant()]],
    user: { id: 'u-1', email: plant('', '@example.com'), ip_address: '203.0.113.78' },
    transaction: `/login?password=${plant()}`,
  });
  const reply = await bench.sendEvent(sent);
  expect(reply.status, reply.text).toBe(200);
  const stored = await bench.captured(sent.event_id);
  expect(stored).toMatchObject({ user_id: 'u-1', exception: { type: 'AuthError', chain: [{ type: 'Cause' }] } });
  const text = (await dump(bench.service.core)) + running.stdout();
  planted.push('4111 1111', '203.0.113.78');
  expect(planted.filter((secret) => text.includes(secret))).toEqual([]);
});

test('an address that tries wrong keys is told to wait, as SDKs understand it', async () => {
  for (let tries = 0; tries < 20; tries += 1) await bench.post(bench.url('envelope', 'wrong'), '{}');
  const reply = await bench.post(bench.url('envelope', 'wrong'), '{}');
  expect([reply.status, reply.body.code]).toEqual([429, 'RATE_LIMITED']);
  const seconds = reply.headers.get('retry-after');
  expect(reply.headers.get('x-sentry-rate-limits')).toBe(`${seconds}::organization:rate_limited`);
  expect((await bench.sendEvent(event())).status).toBe(200);
});

test('no key reaches the log, an answer or the database, right or wrong, wherever it stands', async () => {
  const wrong = `qm_live_${randomBytes(23).toString('hex')}`;
  const { db } = bench.service.core;
  const seen: string[] = [];
  const send = async (url: string, body: Buffer | string, headers: Record<string, string> = {}) => {
    const reply = await bench.post(url, body, headers);
    seen.push(reply.text, JSON.stringify([...reply.headers]));
    return reply.status;
  };
  for (const key of [bench.dsnKey, wrong]) {
    const dsn = bench.dsn.replace(bench.dsnKey, key);
    const inHead = { 'x-sentry-auth': `Sentry sentry_key=${key}`, authorization: `Sentry sentry_key=${key}` };
    await send(bench.url('envelope', key), envelope(event(), { dsn }));
    await send(
      bench.url('envelope', null),
      envelope(event({ extra: { dsn }, request: { url: `/?sentry_key=${key}` } }), { dsn }),
    );
    await send(bench.url('envelope', null), `{"dsn":"${dsn}"`);
    await send(bench.url('envelope', null), `{"dsn":"${dsn}","event_id":"${key}"}\n{"type":"event"}\n{}`);
    await send(bench.url('store', key), `{"a":"${key}`, inHead);
    await send(bench.url('nowhere', key), envelope(event()), inHead);
    await send(bench.url('envelope', key).replace('/api/1/', '/api/x/'), '{}', inHead);
    await send(`${running.url}/v1/errors/sentry/1?sentry_key=${key}`, '{}', inHead);
    await send(`${running.url}/v1/errors/capture?sentry_key=${key}`, '{}', inHead);
    await send(bench.url('envelope', key), 'x', { 'content-encoding': 'zstd' });
    await fetch(bench.url('envelope', key), { headers: inHead });
  }
  await db.query({ name: '', text: 'ALTER TABLE errors.error_group RENAME TO hidden' }, []);
  seen.push(String(await send(bench.url(), envelope(event()))));
  await vi.waitFor(() => expect(running.stdout()).toContain('"capability":"errors.sentry"'), 50_000);
  const log = running.stdout() + running.stderr();
  expect(seen.at(-1)).toBe('500');
  expect(seen.at(-3)).toContain('Something failed inside the service.');
  for (const [place, text] of Object.entries({
    log,
    answers: seen.join('\n'),
    database: await dump(bench.service.core),
  })) {
    expect([place, text.includes(bench.dsnKey), text.includes(wrong)]).toEqual([place, false, false]);
  }
});
