// MCP on the wire: keys, origins, hostile messages, bounds, and that no account sees another's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byId, callCapability } from '../support/capabilities.ts';
import { connectMcp, postMcp, toolCall } from '../support/mcp.ts';
import { openRaw } from '../support/raw.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let url: string;
let headers: Record<string, string>;
beforeAll(async () => {
  service = await startTestService({ env: { RATE_LIMITS: 'on' } });
  account = await createTestAccount(service.core);
  url = `${service.url}/mcp`;
  headers = { authorization: `Bearer ${account.secret}` };
});
afterAll(() => service.stop());

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

describe('who is let in', () => {
  test('nobody without a key of this service, and the challenge says how to send one', async () => {
    for (const authorization of [undefined, 'Bearer qm_wrong', 'Basic abc', 'Bearer'])
      for (const body of [list, toolCall('get_account', {})]) {
        const reply = await postMcp(url, body, authorization === undefined ? {} : { authorization });
        expect([reply.status, reply.body.error.data.code]).toEqual([
          401,
          authorization === 'Bearer qm_wrong' ? 'INVALID_API_KEY' : 'UNAUTHORIZED',
        ]);
        expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /);
      }
  });

  test('no page of another site, and no name that leads to a local service by a trick', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example'])
      expect((await postMcp(url, list, { ...headers, origin })).status, origin).toBe(403);
    for (const origin of ['http://localhost:3000', service.url])
      expect((await postMcp(url, list, { ...headers, origin })).status, origin).toBe(200);
    // fetch does not send another Host; a request of node:http does.
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      const sent = request(url, {
        method: 'POST',
        headers: {
          ...headers,
          host: 'evil.example',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
      });
      sent.on('response', (response) => resolve(response.resume().statusCode));
      sent.end(JSON.stringify(list));
    });
    expect(status).toBe(403);
  });

  test('a key is refused from the message after its revocation on', async () => {
    const other = await createTestAccount(service.core);
    const mine = { authorization: `Bearer ${other.secret}` };
    expect((await postMcp(url, list, mine)).status).toBe(200);
    const revoked = await callCapability(client(service.url, other.secret), byId('account.keys.revoke'), {
      key_id: other.keyId,
    });
    expect(revoked.status).toBe(200);
    expect((await postMcp(url, list, mine)).status).toBe(401);
  });
});

test('GET and DELETE of every address are 405', async () => {
  for (const path of ['/mcp', '/mcp/queue', '/mcp/all'])
    for (const method of ['GET', 'DELETE']) {
      const { status, headers: answered } = await fetch(service.url + path, { method, headers });
      expect([status, answered.get('allow')], `${method} ${path}`).toEqual([405, 'POST']);
    }
});

test('no account sees another’s: the same tools answer each its own', async () => {
  const other = await createTestAccount(service.core);
  const [mine, theirs] = await Promise.all(
    [account, other].map(({ secret }) => connectMcp('2026-07-28', `${service.url}/mcp/queue`, secret)),
  );
  await mine?.call('queue_create', { name: 'mine' });
  const seen = await theirs?.call('queue_list');
  expect(seen?.structuredContent.data.items).toEqual([]);
  const taken = await theirs?.call('queue_get', { queue: 'mine' });
  expect(taken?.structuredContent.error.http_status).toBe(404);
  const { data } = (await theirs?.call('get_account'))?.structuredContent ?? {};
  expect(data.account_id).toBe(other.accountId);
  await Promise.all([mine?.close(), theirs?.close()]);
});

test('a payload reaches the queue byte for byte: numbers beyond 2^53, the order of names, escapes', async () => {
  const payload = '{"z":12345678901234567890,"a":1.10,"text":"\\u00e9\\/"}';
  const call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'bytes' });
  const direct = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"queue_publish","arguments":{"queue":"bytes","payload":${payload}}}}`;
  const selected = direct.replace('{"queue"', '{"select":["/message_id"],"queue"');
  const called = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_capability","arguments":{"id":"queue.publish","input":{"queue":"bytes","payload":${payload}}}}}`;
  for (const [path, body] of [
    ['/mcp/queue', direct],
    ['/mcp/queue', selected],
    ['/mcp', called],
  ] as const)
    expect((await postMcp(service.url + path, body, headers)).body.result.isError).toBeUndefined();
  const { text } = await call('POST', '/v1/queue/consume', { queue: 'bytes', max_messages: 10 });
  expect(text.split(`"payload":${payload}`)).toHaveLength(4);
  await postMcp(`${service.url}/mcp/queue`, direct, headers);
  const consumed = await postMcp(`${service.url}/mcp/queue`, toolCall('queue_consume', { queue: 'bytes' }), headers);
  expect(consumed.body.result.content[0].text).toContain(`"payload":${payload}`);
});

describe('hostile messages', () => {
  test.each([
    ['no JSON', '{"jsonrpc"', 400, -32_700],
    ['a batch', [list, list], 400, -32_600],
    ['a number', '5', 400, -32_600],
    [
      'deep nesting',
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      400,
      -32_700,
    ],
    ['a body beyond the bound', `{"x":"${'y'.repeat(600 * 1024)}"}`, 413, -32_000],
    [
      'many names',
      JSON.stringify({ ...list, params: Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`n${i}`, 1])) }),
      413,
      -32_000,
    ],
    ['a name of 100,000 characters', toolCall('x'.repeat(100_000), {}), 413, -32_000],
  ])('%s is an error of the protocol', async (_, body, status, code) => {
    const reply = await postMcp(url, body, headers);
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
  });

  test('names of tools of any length, and of what every object has, are tools that there are not', async () => {
    for (const name of ['__proto__', 'constructor', 'x'.repeat(60_000), '', 'queue.publish', 'Queue_publish']) {
      const { body } = await postMcp(`${service.url}/mcp/all`, toolCall(name, {}), headers);
      expect(body.error.code, name.slice(0, 20)).toBe(-32_602);
      expect(JSON.stringify(body).length).toBeLessThan(1_000);
    }
  });

  test('arguments with names that would reach prototypes are refused by the capability', async () => {
    for (const text of ['{"__proto__":{"name":"jobs"}}', '{"name":"jobs","constructor":{"prototype":{"x":1}}}']) {
      const message = JSON.stringify(toolCall('queue_create', {})).replace('"arguments":{}', `"arguments":${text}`);
      const { body } = await postMcp(`${service.url}/mcp/queue`, message, headers);
      expect(body.result?.isError ?? body.error !== undefined, text).toBe(true);
    }
  });

  test('modules that there are not, ten thousand of them, and other forms of an address', async () => {
    for (const path of [
      '/mcp/queu',
      '/mcp/queue,,',
      '/mcp/__proto__',
      `/mcp/${'queue,'.repeat(1_500)}x`,
      '/mcp/auth',
    ]) {
      const { status, body } = await postMcp(service.url + path, list, headers);
      expect([status, body?.error.data.http_status], path.slice(0, 30)).toEqual([404, 404]);
    }
    expect((await postMcp(`${url}?read_only=maybe`, list, headers)).body.error.data).toMatchObject({
      param: 'read_only',
    });
    const many = await postMcp(`${service.url}/mcp/${'queue,'.repeat(1_500)}vector`, list, headers);
    expect(many.status).toBe(200);
  });

  test('a search of any length and form is answered or refused by its field', async () => {
    const search = async (input: object) =>
      (await postMcp(url, toolCall('search_capabilities', input), headers)).body.result;
    expect((await search({ query: 'x'.repeat(501) })).structuredContent.error.param).toBe('query');
    expect((await search({ query: 5 })).structuredContent.error.param).toBe('query');
    expect((await search({ query: 'a', limit: 1e9 })).structuredContent.error.param).toBe('limit');
    expect((await search({ query: 'a', module: '__proto__' })).structuredContent.error.param).toBe('module');
    expect((await search({ query: '(.*)+$ \u0000 "' })).isError).toBeUndefined();
    expect((await search({ query: 'zzzzqqqq' })).structuredContent.data).toMatchObject({
      items: [],
      modules: expect.any(Array),
    });
    expect((await search({})).structuredContent.data.items).toHaveLength(8);
  });

  test('subscriptions, and methods that there are not, hold nothing', async () => {
    for (const method of ['subscriptions/listen', 'prompts/list', 'sampling/createMessage'])
      expect((await postMcp(url, { ...list, method }, headers)).body.error.code, method).toBe(-32_601);
  });
});

describe('a call of a tool', () => {
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`u${n}`, n % 10]));
  const ack = (count: number) => ({ queue: 'jobs', message_id: 'qmsg_0', ...names(count) });

  test.each([
    ['the tool itself', '/mcp/queue', (count: number) => toolCall('queue_ack', ack(count))],
    ['call_capability', '/mcp', (count: number) => toolCall('call_capability', { id: 'queue.ack', input: ack(count) })],
  ])('has the bound of the capability for its input: %s', async (_, path, message) => {
    const other = { authorization: `Bearer ${(await createTestAccount(service.core)).secret}` };
    for (const count of [3_000, 45_000]) {
      const { body } = await postMcp(service.url + path, message(count), other);
      expect(body.result.structuredContent.error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      expect(body.result.structuredContent.error.message).toContain('16384 bytes');
    }
  });

  test('of half a megabyte takes reads by its bytes, before it is looked at', async () => {
    const greedy = { authorization: `Bearer ${(await createTestAccount(service.core)).secret}` };
    const body = JSON.stringify(toolCall('queue_ack', ack(45_000)));
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => postMcp(`${service.url}/mcp/queue`, body, greedy)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  });

  test('that calls nothing takes a read', async () => {
    const greedy = { authorization: `Bearer ${(await createTestAccount(service.core)).secret}` };
    const long = JSON.stringify(toolCall('queue_ack', ack(45_000)));
    for (const input of [{ id: 'nothing.here' }, { id: 'queue.ack', select: 5 }, { id: 'queue.ack', input: [] }]) {
      const codes = new Set<string>();
      const deadline = performance.now() + 15_000;
      // Long messages keep the account in debt meanwhile.
      while (!codes.has('RATE_LIMITED') && performance.now() < deadline) {
        const drain = Array.from({ length: 20 }, () => postMcp(`${service.url}/mcp/queue`, long, greedy));
        await Promise.any(drain);
        for (let n = 0; n < 10; n += 1) {
          const { body } = await postMcp(url, toolCall('call_capability', input), greedy);
          codes.add(body.result?.structuredContent.error.code);
        }
        await Promise.all(drain);
      }
      expect(codes, JSON.stringify(input)).toContain('RATE_LIMITED');
    }
  });

  test('without a key is refused before its body is there', async () => {
    const connection = await openRaw(service.url);
    connection.send(
      `POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n`,
    );
    expect(await connection.receive()).toMatch(/^HTTP\/1.1 401/);
    connection.destroy();
  });

  test.each(['2025-11-25', '2026-07-28'] as const)(
    'with a long input and a long answer is as a short one: %s',
    async (generation) => {
      const { secret } = await createTestAccount(service.core);
      const mcp = await connectMcp(generation, `${service.url}/mcp/vector`, secret);
      await mcp.call('vector_collection_create', { collection: 'long', dimension: 64, metric: 'cosine' });
      const embedding = Array.from({ length: 64 }, (_, i) => Math.sin(i + 1));
      const vectors = Array.from({ length: 200 }, (_, n) => ({ id: `v${n}`, embedding }));
      const upserted = await mcp.call('vector_upsert', { collection: 'long', vectors });
      expect(upserted.isError).toBeUndefined();
      const wanted = { collection: 'long', ids: vectors.map(({ id }) => id), include_values: true };
      const whole = await mcp.call('vector_fetch', wanted);
      expect(Object.keys(whole).includes('isError')).toBe(false);
      expect(JSON.parse(whole.content[0]?.text ?? '')).toEqual(whole.structuredContent);
      const { data, metadata } = whole.structuredContent;
      const [name = ''] = Object.keys(data).filter((each) => Array.isArray(data[each]));
      expect(data[name]).toHaveLength(200);
      expect(metadata.entry_form).toBe('mcp');
      const part = await mcp.call('vector_fetch', { ...wanted, select: [`/${name}/199/id`] });
      expect(part.structuredContent.data).toEqual({ [name]: [{ id: 'v199' }] });
      await mcp.close();
    },
  );
});

test('what is no call of a capability takes of the account’s free reads, and others notice nothing', async () => {
  const greedy = { authorization: `Bearer ${(await createTestAccount(service.core)).secret}` };
  for (;;) {
    const body = { ...list, method: 'subscriptions/listen' };
    const replies = await Promise.all(Array.from({ length: 200 }, () => postMcp(url, body, greedy)));
    const refused = replies.find(({ status }) => status === 429);
    if (refused !== undefined) {
      expect(refused.body.error.data).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      break;
    }
  }
  expect((await postMcp(url, list, headers)).status).toBe(200);
});
