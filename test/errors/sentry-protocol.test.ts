// The endpoints of Sentry SDKs, as any client may speak to them: keys, repeats, back-off, CORS.
import { connect } from 'node:net';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CAPTURE_NANOS, ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

let bench: SentryBench;
beforeAll(async () => {
  bench = await SentryBench.of(await ErrorsBench.start());
});
afterAll(() => bench.service.stop());

const event = (fields: Record<string, unknown> = {}) => ({ event_id: eventId(), message: 'it broke', ...fields });

describe('the key', () => {
  test.each([
    ['in the query', () => ({ url: bench.url() })],
    [
      'in X-Sentry-Auth',
      () => ({
        url: bench.url('envelope', null),
        'x-sentry-auth': `Sentry sentry_version=7, sentry_client=raven/1, sentry_key=${bench.dsnKey}`,
      }),
    ],
    [
      'in X-Sentry-Auth, first and followed by a secret',
      () => ({
        url: bench.url('envelope', null),
        'x-sentry-auth': `Sentry sentry_key=${bench.dsnKey},sentry_secret=x`,
      }),
    ],
    [
      'in Authorization of the scheme Sentry',
      () => ({
        url: bench.url('envelope', null),
        authorization: `Sentry sentry_key=${bench.dsnKey}, sentry_version=7`,
      }),
    ],
    [
      'in Authorization of the scheme Bearer',
      () => ({ url: bench.url('envelope', null), authorization: `Bearer ${bench.dsnKey}` }),
    ],
    ['in the dsn of the envelope', () => ({ url: bench.url('envelope', null), dsn: bench.dsn })],
  ])('%s', async (_where, make) => {
    const { url, dsn, ...headers } = make() as { url: string; dsn?: string };
    const sent = event();
    const reply = await bench.post(
      url,
      envelope(sent, dsn === undefined ? {} : { dsn }),
      headers as Record<string, string>,
    );
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ id: sent.event_id });
    expect((await bench.captured(sent.event_id)).message).toBe('it broke');
  });

  test.each([
    ['none', () => bench.url('envelope', null), 'UNAUTHORIZED'],
    ['an unknown one', () => bench.url('envelope', 'public'), 'INVALID_API_KEY'],
    ['one with a mistake', () => bench.url('envelope', `${bench.dsnKey.slice(0, -1)}_`), 'INVALID_API_KEY'],
  ])('%s is refused with 401 and stores nothing', async (_what, url, code) => {
    const before = await bench.countEvents();
    const reply = await bench.post(url(), envelope(event()));
    expect([reply.status, reply.body.code]).toEqual([401, code]);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="quartermaster"');
    expect(reply.text).not.toContain(bench.dsnKey.slice(10, 30));
    expect(await bench.countEvents()).toBe(before);
  });

  test.each([[null], [['errors']], [['errors:write']], [['errors.capture', 'queue']], [['errors.message']], [['*']]])(
    'of scopes %j is refused with 403 and the line that makes a right one',
    async (scopes) => {
      const { key_secret: secret } = await bench.ok('POST', '/v1/account/keys/create', { name: 'x', scopes });
      const sent = event();
      const reply = await bench.post(bench.url('envelope', secret), envelope(sent));
      expect(reply.status).toBe(403);
      expect(reply.body.code).toBe('INSUFFICIENT_SCOPE');
      expect(reply.body.detail).toContain(
        'qm keys create --account ACCOUNT_ID --name sentry --scopes errors.capture,errors.message',
      );
      const inside = await bench.post(
        bench.url('envelope', null),
        envelope(sent, { dsn: bench.dsn.replace(bench.dsnKey, secret) }),
      );
      expect(inside.status).toBe(403);
    },
  );

  test('of errors.capture alone is enough', async () => {
    const { key_secret: secret } = await bench.ok('POST', '/v1/account/keys/create', {
      name: 'x',
      scopes: ['errors.capture'],
    });
    expect((await bench.post(bench.url('envelope', secret), envelope(event()))).status).toBe(200);
  });

  test('decides the account: another one neither sees the event nor shares its id', async () => {
    const other = await SentryBench.of(bench);
    const sent = event({ message: 'mine' });
    expect((await bench.sendEvent(sent)).status).toBe(200);
    expect(await other.countEvents()).toBe(0);
    expect((await other.sendEvent({ ...sent, message: 'yours' })).body).toEqual({ id: sent.event_id });
    expect((await other.captured(sent.event_id)).message).toBe('yours');
    expect((await bench.captured(sent.event_id)).message).toBe('mine');
  });
});

test('an id that comes again is billed once and answered alike, in whatever form', async () => {
  const other = await SentryBench.of(bench);
  const sent = event();
  const uuid = sent.event_id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
  const replies = await Promise.all([
    other.sendEvent(sent),
    other.sendEvent(sent),
    other.sendEvent({ ...sent, message: 'changed', event_id: uuid }),
  ]);
  for (const { status, body } of replies) expect([status, body]).toEqual([200, { id: sent.event_id }]);
  expect(await other.countEvents()).toBe(1);
  expect(await other.spentNanos()).toBe(CAPTURE_NANOS);
});

describe('back-off', () => {
  test('without credit SDKs are told to wait, with 429 and their header, and nothing is stored', async () => {
    const poor = await SentryBench.of(bench, 0);
    const reply = await poor.sendEvent(event());
    expect([reply.status, reply.body.code]).toEqual([429, 'INSUFFICIENT_CREDIT']);
    expect(reply.headers.get('retry-after')).toBe('60');
    expect(reply.headers.get('x-sentry-rate-limits')).toBe('60::organization:insufficient_credit');
    expect(await poor.countEvents()).toBe(0);
  });

  test('a suspended account is 403', async () => {
    const other = await SentryBench.of(bench);
    await other.service.core.db.query(
      { name: 'test_sentry_suspend', text: 'UPDATE core.wallet SET suspended = true WHERE account_id = $1' },
      [other.account.accountId],
    );
    expect((await other.sendEvent(event())).body.code).toBe('ACCOUNT_SUSPENDED');
  });
});

describe('CORS', () => {
  test('browsers may post from anywhere', async () => {
    const response = await fetch(bench.url('envelope', null), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-sentry-auth,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
    expect(response.headers.get('access-control-allow-headers')).toMatch(
      /X-Sentry-Auth.*Content-Type.*Content-Encoding/,
    );
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('answers and refusals can be read there, with the headers that make an SDK wait', async () => {
    for (const key of [bench.dsnKey, 'wrong']) {
      const reply = await bench.post(bench.url('envelope', key), envelope(event()), { origin: 'https://app.example' });
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.get('access-control-expose-headers')).toContain('X-Sentry-Rate-Limits, Retry-After');
    }
  });

  test('and nowhere else', async () => {
    const headers = { origin: 'https://app.example' };
    const preflight = await fetch(`${bench.service.url}/v1/errors/capture`, { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    const reply = await bench.call('POST', '/v1/errors/capture', { message: 'x' }, headers);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('another method is 405 and says which there are', async () => {
    const response = await fetch(bench.url('envelope', null));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});

test('a wrong key ends the request before its body is read', async () => {
  const socket = connect(Number(new URL(bench.service.url).port), '127.0.0.1');
  socket.write(
    'POST /v1/errors/sentry/api/1/envelope/?sentry_key=nobody HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n{}',
  );
  const text = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  socket.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
});

test.each([
  ['envelope', `{"dsn":"http://${'0'.repeat(32)}@localhost/1"}\nno item`],
  ['envelope', '{}\nno item'],
  ['store', 'no event'],
])('%s without a key in its head: who it names is asked before the rest is looked at (%#)', async (end, body) => {
  expect((await bench.post(bench.url(end, null), body)).status).toBe(401);
  expect((await bench.post(bench.url(end, null), zlib.gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(
    401,
  );
});

test('requests are counted under the name of the protocol', async () => {
  await bench.sendEvent(event());
  await bench.post(bench.url('envelope', 'wrong'), envelope(event()));
  const metrics = await (await fetch(`${bench.service.url}/metrics`)).text();
  expect(metrics).toMatch(/qm_calls_total\{capability="errors.sentry",status="200"\} \d+/);
  expect(metrics).toMatch(/qm_calls_total\{capability="errors.sentry",status="401"\} \d+/);
});
