// Clients of Pusher, unchanged: pusher-js, its server library and Laravel Echo, at two services of one database.
import { createRequire } from 'node:module';
import Echo from 'laravel-echo';
import PusherServer from 'pusher';
import type { Channel, PresenceChannel, default as PusherClient } from 'pusher-js';
import nacl from 'tweetnacl';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { PusherBench } from './pusher-bench.ts';

/** Its types are those of a module that it is not. */
const PusherJs = createRequire(import.meta.url)('pusher-js') as unknown as typeof PusherClient.default;
type PusherJs = InstanceType<typeof PusherJs>;
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

let bench: PusherBench;
let second: TestService;
const clients: PusherJs[] = [];
beforeAll(async () => {
  bench = await PusherBench.start();
  second = await startTestService({ database: bench.service.database });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});
afterAll(async () => {
  await second.stop();
  await bench.stop();
});

/** As the documentation of each library has it, for a host of one's own. */
function connect(user = 'ana', url = bench.service.url): PusherJs {
  const { hostname, port } = new URL(url);
  const client = new PusherJs(bench.app.app_key, {
    wsHost: hostname,
    wsPort: Number(port),
    forceTLS: false,
    cluster: '',
    enabledTransports: ['ws'],
    nacl,
    channelAuthorization: {
      transport: 'ajax',
      endpoint: '',
      customHandler: ({ socketId, channelName }, done) => {
        const member = channelName.startsWith('presence-') ? { user_id: user, user_info: { name: user } } : undefined;
        done(null, server().authorizeChannel(socketId, channelName, member) as never);
      },
    },
    userAuthentication: {
      transport: 'ajax',
      endpoint: '',
      customHandler: ({ socketId }, done) => done(null, server().authenticateUser(socketId, { id: user }) as never),
    },
  });
  clients.push(client);
  return client;
}

function server(): PusherServer {
  const { hostname, port } = new URL(bench.service.url);
  const { app_id: appId, app_key: key, app_secret: secret } = bench.app;
  return new PusherServer({
    appId,
    key,
    secret,
    host: hostname,
    port,
    useTLS: false,
    encryptionMasterKeyBase64: MASTER_KEY,
  });
}

function subscribed(channel: Channel): Promise<unknown> {
  return new Promise((resolve, reject) => {
    channel.bind('pusher:subscription_succeeded', resolve);
    channel.bind('pusher:subscription_error', (error: unknown) => reject(new Error(JSON.stringify(error))));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: events of every shape
function heard(channel: { bind(event: string, listener: (data: any) => void): unknown }, event: string): Promise<any> {
  return new Promise((resolve) => channel.bind(event, resolve));
}

test('pusher-js gets what pusher triggers, whichever service each is connected to', async () => {
  const channels = [connect(), connect('ben', second.url)].map((each) => each.subscribe('private-orders'));
  await Promise.all(channels.map(subscribed));
  const got = channels.map((channel) => heard(channel, 'created'));
  const reply = await server().trigger(
    ['private-orders', 'news'],
    'created',
    { id: 17 },
    { info: 'subscription_count' },
  );
  expect(await reply.json()).toEqual({
    channels: { 'private-orders': { subscription_count: expect.any(Number) }, news: { subscription_count: 0 } },
  });
  expect(await Promise.all(got)).toEqual([{ id: 17 }, { id: 17 }]);
});

test('texts, numbers and JSON of the server library arrive as it sent them', async () => {
  const channel = connect().subscribe('forms');
  await subscribed(channel);
  const got: unknown[] = [];
  channel.bind('form', (data: unknown) => got.push(data));
  const sent = ['hello', '', { a: [1, null] }, 5, true, null, 'say "hi"', '{broken', ['é😀']];
  const end = heard(channel, 'end');
  for (const data of sent) await server().trigger('forms', 'form', data);
  await server().triggerBatch([
    { channel: 'forms', name: 'form', data: 'batch' },
    { channel: 'forms', name: 'end', data: {} },
  ]);
  await end;
  expect(got).toEqual([...sent, 'batch']);
});

test('the sender of a triggered event can be left out', async () => {
  const [a, b] = [connect(), connect()];
  const channels = [a, b].map((each) => each.subscribe('news'));
  await Promise.all(channels.map(subscribed));
  const events: string[] = [];
  channels[0]?.bind('for-b', () => events.push('a'));
  const got = heard(channels[1] as Channel, 'for-b');
  const end = heard(channels[0] as Channel, 'end');
  await server().trigger('news', 'for-b', {}, { socket_id: a.connection.socket_id });
  await server().trigger('news', 'end', {});
  await Promise.all([got, end]);
  expect(events).toEqual([]);
});

test('members at two services see one another come, go and type', async () => {
  const [a, b] = [connect('ana'), connect('ben', second.url)];
  const here = a.subscribe('presence-room') as PresenceChannel;
  await subscribed(here);
  const added = heard(here, 'pusher:member_added');
  const there = b.subscribe('presence-room') as PresenceChannel;
  await subscribed(there);
  expect(await added).toEqual({ id: 'ben', info: { name: 'ben' } });
  expect(there.members.count).toBe(2);
  expect(there.members.me).toEqual({ id: 'ben', info: { name: 'ben' } });
  const typed = new Promise((resolve) =>
    here.bind('client-typing', (data: unknown, from: unknown) => resolve([data, from])),
  );
  there.trigger('client-typing', { on: true });
  expect(await typed).toEqual([{ on: true }, { user_id: 'ben' }]);
  const users = await server().get({ path: '/channels/presence-room/users' });
  expect(await users.json()).toEqual({ users: [{ id: 'ana' }, { id: 'ben' }] });
  const removed = heard(here, 'pusher:member_removed');
  b.disconnect();
  expect(await removed).toEqual({ id: 'ben', info: { name: 'ben' } });
  expect(here.members.count).toBe(1);
});

test('an encrypted channel is read by its members and by nobody in between', async () => {
  const channel = connect().subscribe('private-encrypted-a');
  await subscribed(channel);
  const got = heard(channel, 'secret');
  await server().trigger('private-encrypted-a', 'secret', { pin: 1234 });
  expect(await got).toEqual({ pin: 1234 });
  const { items } = await bench.ok('GET', 'history/private-encrypted-a');
  expect(Object.keys(items[0].data).sort()).toEqual(['ciphertext', 'nonce']);
});

test('a user who signs in gets what is sent to them, and is disconnected at every service', async () => {
  const both = [connect('eve'), connect('eve', second.url)];
  const signed = both.map((each) => heard(each.connection, 'connected').then(() => each));
  const got = both.map((each) => new Promise((resolve) => each.user.bind('hello', resolve)));
  for (const each of await Promise.all(signed)) each.signin();
  for (const each of both) await each.user.signinDonePromise;
  const isIn = (each: PusherJs) => each.channel('#server-to-user-eve') ?? each.user.serverToUserChannel;
  await Promise.all(both.map((each) => subscribed(isIn(each) as Channel)));
  await server().sendToUser('eve', 'hello', { n: 1 });
  expect(await Promise.all(got)).toEqual([{ n: 1 }, { n: 1 }]);
  const ended = both.map((each) => heard(each.connection, 'error'));
  const states = both.map((each) => new Promise((resolve) => each.connection.bind('state_change', resolve)));
  await server().terminateUserConnections('eve');
  for (const error of await Promise.all(ended)) expect(error.data).toMatchObject({ code: 4009 });
  await Promise.all(states);
});

test('the server library reads channels with their counts', async () => {
  const client = connect('ana');
  for (const name of ['presence-count', 'count-a', 'cache-count']) await subscribed(client.subscribe(name));
  await expect
    .poll(async () => (await (await server().get({ path: '/channels', params: {} })).json()).channels)
    .toMatchObject({ 'presence-count': {}, 'count-a': {}, 'cache-count': {} });
  const params = { filter_by_prefix: 'presence-count', info: 'user_count' };
  const listed = await server().get({ path: '/channels', params });
  expect(await listed.json()).toEqual({ channels: { 'presence-count': { user_count: 1 } } });
  const one = await server().get({ path: '/channels/count-a', params: { info: 'subscription_count' } });
  expect(await one.json()).toEqual({ occupied: true, subscription_count: 1 });
  const none = await server().get({ path: '/channels/nobody', params: {} });
  expect(await none.json()).toEqual({ occupied: false });
});

test('Laravel Echo listens, whispers, joins and leaves', async () => {
  const [ana, ben] = ['ana', 'ben'].map((user) => new Echo({ broadcaster: 'pusher', client: connect(user) }));
  if (ana === undefined || ben === undefined) throw new Error('two of them');
  const shipped = new Promise((resolve) => ana.channel('orders').listen('OrderShipped', resolve));
  const notified = new Promise((resolve) => ana.private('App.Models.User.1').notification(resolve));
  const joined = new Promise((resolve) =>
    ana
      .join('lobby')
      .joining(resolve)
      .here(() => ben.join('lobby')),
  );
  expect(await joined).toEqual({ name: 'ben' });
  const whispered = new Promise((resolve) => ana.join('lobby').listenForWhisper('typing', resolve));
  ben.join('lobby').whisper('typing', { on: 1 });
  expect(await whispered).toEqual({ on: 1 });
  const here = ['orders', 'private-App.Models.User.1'].map(
    (name) => ana.connector.channels[name]?.subscription as Channel,
  );
  await expect.poll(() => here.every(({ subscribed: is }) => is)).toBe(true);
  await server().trigger('orders', 'App\\Events\\OrderShipped', { id: 1 });
  const type = 'Illuminate\\Notifications\\Events\\BroadcastNotificationCreated';
  await server().trigger('private-App.Models.User.1', type, { id: 2 });
  expect(await Promise.all([shipped, notified])).toEqual([{ id: 1 }, { id: 2 }]);
  ana.leave('lobby');
});

test('a wrong secret triggers nothing, and says why', async () => {
  const { hostname, port } = new URL(bench.service.url);
  const { app_id: appId, app_key: key } = bench.app;
  const forged = new PusherServer({ appId, key, secret: 'x'.repeat(40), host: hostname, port, useTLS: false });
  await expect(forged.trigger('news', 'a', {})).rejects.toMatchObject({
    status: 401,
    body: expect.stringContaining('INVALID_API_KEY'),
  });
});
