// HTTP around the calls: headers, methods, unknown routes, health, metrics, and what is never there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byId, callCapability, capabilities } from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import { freePort } from '../support/process.ts';
import { openRaw } from '../support/raw.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const BASE_URL = 'https://infra.example.org';
let service: TestService;
/** Where it listens; it calls itself by BASE_URL. */
let url: string;
let call: Client;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = { BASE_URL, PORT: String(port), TRUST_PROXY: 'loopback', METRICS_TOKEN: 'a token for the metrics' };
  service = await startTestService({ env });
  call = client(url, (await createTestAccount(service.core)).secret);
});
afterAll(() => service.stop());

describe('traces and request ids', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

  test.each(['/v1/account/balance', '/v1/queue/get/nothing', '/v1/nothing'])(
    '%s continues the trace of the caller',
    async (path) => {
      const { body, headers } = await call('GET', path, undefined, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
      expect(body.metadata.trace_id).toBe(trace);
      expect(body.error?.trace_id ?? trace).toBe(trace);
      expect(headers.get('traceparent')).toMatch(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    },
  );

  test.each([
    'nonsense',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-00f067aa0ba902b7-01`,
    `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
  ])('%s begins a new trace', async (traceparent) => {
    const { body } = await call('GET', '/v1/account/balance', undefined, { traceparent });
    expect(body.metadata.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(body.metadata.trace_id).not.toBe(trace);
    expect(body.metadata.trace_id).not.toMatch(/^0+$/);
  });

  test('request ids are ours, unique and in order', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1)
      ids.push(
        (await call('GET', '/v1/account/balance', undefined, { 'x-request-id': 'mine' })).headers.get(
          'x-request-id',
        ) as string,
      );
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain('mine');
  });
});

describe('what the service says about where it is', () => {
  test.each([
    ['GET', '/v1/queue/get/nothing'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/openapi.json'],
    ['GET', '/llms.txt'],
    ['GET', '/docs'],
  ])('%s %s never takes it from Host', async (method, path) => {
    const { text } = await call(method, path, undefined, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
    });
    expect(text).not.toContain('evil.example');
    expect(text).not.toContain(url);
  });

  test('docs_url and the OpenAPI server come from BASE_URL', async () => {
    expect((await call('GET', '/v1/queue/get/nothing')).body.error.docs_url).toBe(
      `${BASE_URL}/docs/errors/QUEUE_NOT_FOUND`,
    );
    expect((await call('GET', '/v1/openapi.json')).body.servers).toEqual([
      expect.objectContaining({ url: `${BASE_URL}/v1` }),
    ]);
    expect((await call('GET', '/docs/errors/QUEUE_NOT_FOUND')).status).toBe(200);
  });
});

describe('methods and routes', () => {
  test.each(['/v1', '/v1/', '/v1/nothing', '/v1/queue', '/v1/queue/get', '/nothing'])(
    '%s is 404 in the envelope, without a key too',
    async (path) => {
      const reply = await client(url)('GET', path);
      expectFailure(reply, BASE_URL);
      expect([reply.status, reply.body.error.code]).toEqual([404, 'NOT_FOUND']);
    },
  );

  test.each(capabilities.map(({ id }) => id))('%s: other methods are 405 and name its own', async (id) => {
    const input = Object.fromEntries(Object.keys(byId(id).input.properties).map((name) => [name, 'abc']));
    const { path } = byId(id);
    // A thing that is set and deleted may have one path.
    const own: string[] = capabilities.filter((each) => each.path === path).map(({ method }) => method);
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((other) => !own.includes(other));
    for (const other of others) {
      const reply = await call(other, path.replace(/\{.*\}/, String(Object.values(input)[0])));
      expect([other, reply.status, reply.body.error.code]).toEqual([other, 405, 'METHOD_NOT_ALLOWED']);
      expectFailure(reply, BASE_URL);
      expect(reply.headers.get('allow')?.split(', ')).toEqual(
        own.includes('GET') ? expect.arrayContaining(['GET', 'HEAD']) : expect.arrayContaining(own),
      );
    }
  });

  test.each(['/healthz', '/readyz', '/docs', '/v1/openapi.json', '/llms.txt', '/.well-known/quartermaster.json'])(
    'POST %s is 405',
    async (path) => {
      const reply = await call('POST', path, {});
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    },
  );

  test.each([
    ['POST', '/docs/errors', 405, 'GET, HEAD'],
    ['DELETE', '/docs/errors/QUEUE_NOT_FOUND.md', 405, 'GET, HEAD'],
    ['GET', '/docs/nothing', 404, null],
    ['HEAD', '/docs/errors/QUEUE_NOT_FOUND.md/', 404, null],
    ['POST', '/docs/nothing', 404, null],
  ])('a page of the documentation, or none: %s %s is %i', async (method, path, status, allow) => {
    const reply = await call(method, path, method === 'POST' ? {} : undefined);
    expect([reply.status, reply.headers.get('allow')]).toEqual([status, allow]);
  });

  test.each(['/v1/account/balance', '/v1/queue/get/nothing', '/healthz', '/docs'])(
    'HEAD %s is GET without a body',
    async (path) => {
      const [head, get] = [await call('HEAD', path), await call('GET', path)];
      expect([head.status, head.text]).toEqual([get.status, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    },
  );
});

describe('problem details', () => {
  test.each(['/v1/queue/get/nothing', '/v1/nothing'])('%s on request (RFC 9457)', async (path) => {
    const { status, headers, text } = await call('GET', path, undefined, { accept: 'application/problem+json' });
    const plain = (await call('GET', path)).body.error;
    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(text)).toMatchObject({
      type: plain.docs_url,
      title: plain.code,
      status,
      detail: plain.message,
      code: plain.code,
      instance: headers.get('x-request-id'),
    });
  });

  test('a success stays the envelope', async () => {
    const { body, headers } = await call('GET', '/v1/account/balance', undefined, {
      accept: 'application/problem+json',
    });
    expect([body.ok, headers.get('content-type')]).toEqual([true, 'application/json; charset=utf-8']);
  });
});

describe('browsers of other sites', () => {
  test.each(capabilities.map(({ id }) => id))('%s: no CORS, asked or not', async (id) => {
    const asked = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const path = byId(id).path.replace(/\{.*\}/, 'abc');
    for (const { headers } of [
      await call('OPTIONS', path, undefined, asked),
      await callCapability(call, byId(id), { queue: 'abc', id: 'abc', redrive_id: 'abc', capability: 'abc' }, asked),
    ]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

describe('health and metrics', () => {
  test('healthz and readyz need no key', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await client(url)('GET', path)).status).toBe(200);
  });
});

describe('doubled headers', () => {
  const paths = [
    '/v1/account/balance',
    '/v1/openapi.json',
    '/v1/nothing',
    '/v1/errors/sentry/api/1/store/',
    '/healthz',
  ];

  async function send(path: string, headers: readonly string[]) {
    const raw = await openRaw(url);
    raw.send([`GET ${path} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
    const text = await raw.receive(() => raw.closed);
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    return { status: Number(text.slice(9, 12)), body: body.startsWith('{') ? JSON.parse(body) : null };
  }

  test.each(paths)('%s with two Host or two Authorization headers is 400, equal ones too', async (path) => {
    const own = await send(path, ['Host: a', 'Authorization: Bearer x']);
    expect(own.body?.error?.code_detail).not.toBe('doubled_header');
    for (const headers of [
      ['Host: a', 'host: b'],
      ['Host: a', 'Host: a'],
      ['Host: a', 'Authorization: Bearer x', 'AUTHORIZATION: Bearer y'],
      ['Host: a', 'Authorization: Bearer x', 'X-Other: 1', 'Authorization: Bearer x'],
    ]) {
      const { status, body } = await send(path, headers);
      expect([status, body.error.code, body.error.code_detail]).toEqual([400, 'INVALID_REQUEST', 'doubled_header']);
    }
  });

  test('a call that has its key once, after another one, is not let in by either', async () => {
    const { secret } = await createTestAccount(service.core);
    const [good, bad] = [`Authorization: Bearer ${secret}`, 'Authorization: Bearer nonsense'];
    const statuses = [];
    for (const headers of [[good], [good, bad], [bad, good]])
      statuses.push((await send('/v1/account/balance', ['Host: a', ...headers])).status);
    expect(statuses).toEqual([200, 400, 400]);
  });
});
