// The stream of the request log: what is new, of one account, as long as its key may.
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ admission: { account: { tailsMax: 1 } } });
});
afterAll(() => service?.stop());

async function tail(secret: string, query = '') {
  const { statusCode, body, headers } = await request(`${service.url}/v1/account/requests/tail${query}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  let text = '';
  body.setEncoding('utf8');
  body.on('data', (piece: string) => {
    text += piece;
  });
  const ended = new Promise<void>((resolve) => body.once('close', resolve));
  return {
    status: statusCode,
    type: headers['content-type'],
    ended,
    events: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json as string)),
    text: () => text,
    // The client itself ends it, which undici tells as an error.
    close: () => body.once('error', ({ name }) => expect(name).toBe('AbortError')).destroy(),
  };
}

test('new calls of the account are told once each, those that the filters ask for', async () => {
  const { secret } = await createTestAccount(service.core);
  const { secret: other } = await createTestAccount(service.core);
  const stream = await tail(secret, '?code=QUEUE_NOT_FOUND');
  expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const call = client(service.url, secret);
  await client(service.url, other)('GET', '/v1/queue/get/theirs');
  await call('POST', '/v1/queue/create', {});
  const { request_id: id } = (await call('GET', '/v1/queue/get/first')).body.error;
  await expect.poll(() => stream.events().length).toBe(1);
  await call('GET', '/v1/queue/get/second');
  await expect
    .poll(() => stream.events().map(({ path }) => path))
    .toEqual(['/v1/queue/get/first', '/v1/queue/get/second']);
  expect(stream.events()[0].request_id).toBe(id);
  expect((await tail(secret)).status).toBe(429);
  stream.close();
  await expect
    .poll(async () => {
      const again = await tail(secret);
      again.close();
      return again.status;
    })
    .toBe(200);
});

test('a stream of all calls tells short ones once each', async () => {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  await call('GET', '/v1/account/balance');
  const stream = await tail(secret, '?outcome=all&capability=queue.list');
  for (const limit of [1, 2]) await call('GET', `/v1/queue/list?limit=${limit}`);
  await expect.poll(() => stream.events().length, { timeout: 10_000 }).toBe(2);
  await call('GET', '/v1/queue/list?limit=3');
  await expect.poll(() => stream.events().length, { timeout: 10_000 }).toBe(3);
  expect(new Set(stream.events().map(({ request_id: id }) => id)).size).toBe(3);
  stream.close();
});

test('it ends with its key', async () => {
  const { secret, keyId } = await createTestAccount(service.core);
  const { body } = await client(service.url, secret)('POST', '/v1/account/keys/create', { name: 'other' });
  const stream = await tail(secret);
  const revoked = await client(service.url, body.data.key_secret)('DELETE', `/v1/account/keys/revoke/${keyId}`);
  expect(revoked.status).toBe(200);
  await stream.ended;
});

test('it ends when its key may no longer read the log', async () => {
  const { secret, keyId } = await createTestAccount(service.core);
  const stream = await tail(secret);
  const call = client(service.url, secret);
  expect((await call('PATCH', `/v1/account/keys/update/${keyId}`, { scopes: ['queue'] })).status).toBe(200);
  await stream.ended;
});

test('a filter that does not exist, and a value that none can have, are named', async () => {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  for (const [query, param] of [
    ['nope=1', 'nope'],
    ['outcome=bad', 'outcome'],
    ['status=99', 'status'],
    ['code=', 'code'],
  ] as const)
    expect((await call('GET', `/v1/account/requests/tail?${query}`)).body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      param,
    });
});
