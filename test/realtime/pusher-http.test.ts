// Signed calls of servers that no library makes.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PusherBench } from './pusher-bench.ts';
import { hmac } from './pusher-line.ts';

let bench: PusherBench;
beforeAll(async () => {
  // Wrong keys count against this address: no file before may have spent what it has.
  bench = await PusherBench.start({ isFresh: true });
});
afterAll(() => bench.stop());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly params?: Record<string, string>;
  readonly secret?: string;
  /** Sent in place of what was signed. */
  readonly sentBody?: string;
}

async function signed({ method = 'POST', path = '/events', body = '', params = {}, secret, sentBody }: Sent) {
  const { app_id: id, app_key: key, app_secret: own } = bench.app;
  const full = `/apps/${id}${path}`;
  const all: Record<string, string> = {
    auth_key: key,
    auth_timestamp: String(Math.floor(Date.now() / 1_000)),
    auth_version: '1.0',
    ...(body === '' ? {} : { body_md5: createHash('md5').update(body).digest('hex') }),
    ...params,
  };
  const query = Object.keys(all).sort();
  const text = `${method}\n${full}\n${query.map((name) => `${name}=${all[name]}`).join('&')}`;
  const sent = new URLSearchParams({ ...all, auth_signature: hmac(secret ?? own, text) });
  return bench.call(method, `${full}?${sent}`, method === 'GET' ? undefined : (sentBody ?? body));
}

const event = (rest: object = {}) => JSON.stringify({ name: 'a', channel: 'news', data: '{}', ...rest });

test('a call that is right publishes and is charged', async () => {
  expect(await signed({ body: event() })).toMatchObject({ status: 200, text: '{}' });
  const { items } = await bench.ok('GET', 'history/news');
  expect(items[0]).toMatchObject({ event: 'a', data: {} });
});

test.each<[string, Sent, number]>([
  ['another secret', { body: event(), secret: 'no' }, 401],
  ['another body', { body: event(), sentBody: event({ name: 'b' }) }, 401],
  ['a body that was not signed', { sentBody: event() }, 401],
  ['an old time', { body: event(), params: { auth_timestamp: '1353088179' } }, 401],
  ['another key', { body: event(), params: { auth_key: 'key_0000000000000000000000' } }, 401],
  ['another version', { body: event(), params: { auth_version: '2.0' } }, 401],
  ['no JSON', { body: '{' }, 400],
  ['a list', { body: '[]' }, 400],
  ['no name', { body: event({ name: undefined }) }, 400],
  ['a name of the service', { body: event({ name: 'pusher_internal:member_added' }) }, 400],
  ['a name of 201 characters', { body: event({ name: 'a'.repeat(201) }) }, 400],
  ['data that are no text', { body: event({ data: {} }) }, 400],
  ['no channel', { body: event({ channel: undefined }) }, 400],
  ['a wrong channel', { body: event({ channel: 'a b' }) }, 400],
  ['101 channels', { body: event({ channels: Array.from({ length: 101 }, (_, i) => `c${i}`) }) }, 400],
  ['a wrong socket', { body: event({ socket_id: 'x' }) }, 400],
  ['data of more than 10 KiB', { body: event({ data: 'x'.repeat(10_241) }) }, 413],
  ['nested JSON', { body: `{"name":"a","channel":"a","data":"","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}` }, 400],
  [
    'a batch of 11',
    { path: '/batch_events', body: JSON.stringify({ batch: Array.from({ length: 11 }, () => ({})) }) },
    400,
  ],
  ['an empty batch', { path: '/batch_events', body: '{"batch":[]}' }, 400],
  ['users of a public channel', { method: 'GET', path: '/channels/news/users' }, 400],
  ['counts of users of all channels', { method: 'GET', path: '/channels', params: { info: 'user_count' } }, 400],
  ['a channel that has no name', { method: 'GET', path: '/channels/a%20b' }, 400],
])('%s is refused, and nothing is published', async (_what, sent, status) => {
  const before = (await bench.ok('GET', 'history/news')).items.length;
  const reply = await signed(sent);
  expect(reply.status).toBe(status);
  expect(reply.text).toMatch(/^[^\n]+ \([A-Z_]+, req_\w+\)\n$/);
  expect((await bench.ok('GET', 'history/news')).items.length).toBe(before);
});

test('the key of one app opens no other app', async () => {
  const other = await bench.another();
  const { app_key: auth_key, app_secret: secret } = other.app;
  expect((await signed({ body: event(), params: { auth_key }, secret })).status).toBe(404);
});

test('a batch is published whole or not at all', async () => {
  const batch = (data: string) =>
    JSON.stringify({
      batch: [
        { name: 'x', channel: 'whole', data: '1' },
        { name: 'y', channel: 'whole', data },
      ],
    });
  expect((await signed({ path: '/batch_events', body: batch('x'.repeat(10_241)) })).status).toBe(413);
  expect((await bench.ok('GET', 'history/whole')).items).toEqual([]);
  expect((await signed({ path: '/batch_events', body: batch('2') })).status).toBe(200);
  expect((await bench.ok('GET', 'history/whole')).items.length).toBe(2);
});

test('a body of more than 64 KiB is read in a thread', async () => {
  const channels = Array.from({ length: 100 }, (_, i) => `${i}-`.padEnd(200, 'c'));
  const body = JSON.stringify({
    name: 'long',
    channels,
    data: JSON.stringify('é'.repeat(5_000)),
    pad: 'x'.repeat(60_000),
  });
  expect((await signed({ body })).status).toBe(200);
});
