// The protocol frame by frame, as its documentation has it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PusherBench } from './pusher-bench.ts';
import { authOf, hmac, PusherLine } from './pusher-line.ts';

let bench: PusherBench;
beforeAll(async () => {
  bench = await PusherBench.start();
});
afterEach(() => bench.closeLines());
afterAll(() => bench.stop());

test.each(['/app/', '/v1/realtime/pusher/app/'])(
  'a connection to %s is established and answers pings',
  async (path) => {
    const line = await bench.open(path);
    expect(line.socketId).toMatch(/^\d+\.\d+$/);
    line.send('pusher:ping', {});
    expect(await line.event('pusher:pong')).toMatchObject({ data: {} });
  },
);

test('an unknown app is told by code 4001, and a protocol of tomorrow by 4007', async () => {
  const unknown = await PusherLine.open(bench.service.url, 'key_0000000000000000000000');
  expect(unknown.heard[0]).toMatchObject({ event: 'pusher:error', data: { code: 4001 } });
  expect(await unknown.ended).toBe(4001);
  const late = await PusherLine.open(bench.service.url, `${bench.app.app_key}?protocol=8&x=`);
  expect(await late.ended).toBe(4007);
});

test('a key that is no app, though its id is known, connects nobody', async () => {
  const { body } = await bench.call('GET', '/v1/account/keys/list');
  const other = body.data.items.find(({ key_id }: { key_id: string }) => key_id !== bench.app.app_key);
  const line = await PusherLine.open(bench.service.url, other.key_id);
  expect(await line.ended).toBe(4001);
});

test('what is published reaches each subscriber once, in order, and not the connection that is left out', async () => {
  const [a, b] = [await bench.open(), await bench.open()];
  await a.subscribe('news');
  await b.subscribe('news');
  await bench.publish('news', 'one', { n: 1 }, { socket_id: a.socketId });
  await bench.publish('other', 'no', {});
  await bench.publish('news', 'two', 'text');
  expect(await b.event('one')).toEqual({ event: 'one', channel: 'news', data: { n: 1 } });
  expect(await b.event('two')).toMatchObject({ data: 'text' });
  await a.event('two');
  await a.settled();
  expect(a.heard).toEqual([]);
  b.send('pusher:unsubscribe', { channel: 'news' });
  await b.settled();
  await bench.publish('news', 'three', {});
  await a.event('three');
  await b.settled();
  expect(b.heard).toEqual([]);
});

describe('signatures', () => {
  test('a private channel takes its own, and none of another connection, channel, key or secret', async () => {
    const [line, other, stranger] = [await bench.open(), await bench.open(), await bench.another()];
    const { app } = bench;
    const wrong = [
      undefined,
      '',
      app.app_key,
      authOf(app, other.socketId, 'private-a'),
      authOf(app, line.socketId, 'private-b'),
      authOf(app, line.socketId, 'private-a', '{}'),
      authOf(stranger.app, line.socketId, 'private-a'),
      authOf({ ...app, app_secret: stranger.app.app_secret }, line.socketId, 'private-a'),
      authOf({ ...app, app_key: stranger.app.app_key }, line.socketId, 'private-a'),
      authOf(app, line.socketId, 'private-a').toUpperCase(),
      `${authOf(app, line.socketId, 'private-a')} `,
      { auth: 1 },
    ];
    for (const auth of wrong) {
      line.send('pusher:subscribe', { channel: 'private-a', auth });
      expect((await line.event('pusher:subscription_error')).data).toMatchObject({ type: 'AuthError', status: 4009 });
      expect((await line.event('pusher:error')).data).toMatchObject({ code: 4009 });
    }
    expect(await line.subscribe('private-a', app)).toMatchObject({ event: 'pusher_internal:subscription_succeeded' });
  });

  test('the data of a member are signed too', async () => {
    const line = await bench.open();
    const auth = authOf(bench.app, line.socketId, 'presence-a', '{"user_id":"1"}');
    line.send('pusher:subscribe', { channel: 'presence-a', auth, channel_data: '{"user_id":"2"}' });
    expect((await line.event('pusher:subscription_error')).data).toMatchObject({ status: 4009 });
  });

  test('after a rotation without grace only the new secret is right, and connections go on', async () => {
    const fresh = await bench.another();
    const line = await fresh.open();
    const before = fresh.app;
    const after = await fresh.ok('POST', 'app/rotate', { grace_hours: 24 });
    expect(await line.subscribe('private-old', before)).toMatchObject({
      event: 'pusher_internal:subscription_succeeded',
    });
    expect(await line.subscribe('private-new', after)).toMatchObject({
      event: 'pusher_internal:subscription_succeeded',
    });
  });
});

describe('presence', () => {
  test('members see one another come, once for all their connections', async () => {
    const { app } = bench;
    const [a, a2, b] = [await bench.open(), await bench.open(), await bench.open()];
    const ana = { user_id: 'ana', user_info: { name: 'Ana' } };
    const first = await a.subscribe('presence-room', app, ana);
    expect(first.data).toEqual({ presence: { count: 1, ids: ['ana'], hash: { ana: { name: 'Ana' } } } });
    await a2.subscribe('presence-room', app, ana);
    const second = await b.subscribe('presence-room', app, { user_id: 'ben' });
    expect(second.data).toEqual({
      presence: { count: 2, ids: ['ana', 'ben'], hash: { ana: { name: 'Ana' }, ben: {} } },
    });
    expect(await a.event('pusher_internal:member_added')).toMatchObject({ data: { user_id: 'ben', user_info: {} } });
    await b.settled();
    expect(b.heard).toEqual([]);
    expect((await bench.ok('GET', 'members/presence-room')).items).toEqual([
      { user_id: 'ana', user_info: { name: 'Ana' } },
      { user_id: 'ben', user_info: {} },
    ]);
    a.close();
    b.close();
    expect(await a2.event('pusher_internal:member_removed')).toMatchObject({ data: { user_id: 'ben' } });
    await a2.settled();
    expect(a2.heard).toEqual([]);
    expect((await bench.ok('GET', 'history/presence-room')).items).toEqual([]);
  });

  test.each([
    ['no data', undefined],
    ['no user', '{}'],
    ['a user without an id', '{"user_id":""}'],
    ['an id that is an object', '{"user_id":{}}'],
    ['an id that is too long', `{"user_id":"${'a'.repeat(129)}"}`],
    ['an id with a zero', '{"user_id":"a\\u0000"}'],
    ['no JSON', '{"user_id"'],
    ['too much information', `{"user_id":"a","user_info":"${'x'.repeat(2_100)}"}`],
    ['nested information', `{"user_id":"a","user_info":${'['.repeat(40)}${']'.repeat(40)}}`],
  ])('%s, though signed, is refused', async (_what, data) => {
    const line = await bench.open();
    const auth = authOf(bench.app, line.socketId, 'presence-bad', data);
    line.send('pusher:subscribe', { channel: 'presence-bad', auth, channel_data: data });
    expect((await line.event('pusher:subscription_error')).data).toMatchObject({ type: 'AuthError' });
  });
});

describe('client events', () => {
  test('members get them with who sent them, the sender does not, and each is charged', async () => {
    const own = await bench.another();
    const [a, b] = [await own.open(), await own.open()];
    await a.subscribe('presence-chat', own.app, { user_id: 'ana' });
    await b.subscribe('presence-chat', own.app, { user_id: 'ben' });
    a.send('client-typing', { on: true }, 'presence-chat');
    expect(await b.event('client-typing')).toEqual({
      event: 'client-typing',
      channel: 'presence-chat',
      data: { on: true },
      user_id: 'ana',
    });
    await a.settled();
    expect(a.heard.filter(({ event }) => event === 'client-typing')).toEqual([]);
    const { body } = await own.call('GET', '/v1/account/balance');
    expect(body.data.balance_usd).toBeCloseTo(5 - 0.000002, 9);
  });

  test.each([
    ['a public channel', 'news', 'client-a', {}],
    ['a channel that was not subscribed to', 'private-no', 'client-a', {}],
    ['an encrypted channel', 'private-encrypted-a', 'client-a', {}],
    ['a name of 201 characters', 'private-c', `client-${'a'.repeat(194)}`, {}],
    ['data of more than 10 KiB', 'private-c', 'client-a', 'x'.repeat(10_240)],
  ])('one to %s is refused with 4301', async (_what, channel, event, data) => {
    const line = await bench.open();
    await line.subscribe('news');
    for (const name of ['private-c', 'private-encrypted-a']) await line.subscribe(name, bench.app);
    line.send(event, data, channel);
    expect(await line.event('pusher:error')).toMatchObject({ channel, data: { code: 4301 } });
  });

  test('a connection sends ten a second, is told of the others by 4301, and goes on', async () => {
    const own = await bench.another();
    // So that none waits for its charge, which would be within the rate.
    await own.ok('PUT', 'settings/set', { client_events: false });
    const line = await own.open();
    await line.subscribe('private-many', own.app);
    for (let n = 0; n < 60; n += 1) line.send('client-n', { n }, 'private-many');
    const told: string[] = [];
    while (told.length < 60) told.push((await line.event('pusher:error')).data.message);
    const over = told.filter((message) => message.includes('at most 10'));
    expect(told.slice(0, 10)).not.toContain(over[0]);
    expect(over.length).toBeGreaterThan(0);
    await line.settled();
  });

  test('they can be turned off', async () => {
    const own = await bench.another();
    await own.ok('PUT', 'settings/set', { client_events: false });
    const line = await own.open();
    await line.subscribe('private-c', own.app);
    line.send('client-a', {}, 'private-c');
    expect(await line.event('pusher:error')).toMatchObject({ channel: 'private-c', data: { code: 4301 } });
  });
});

describe('users', () => {
  const signIn = (line: PusherLine, user: string | number) => {
    const userData = JSON.stringify({ id: user });
    const auth = `${bench.app.app_key}:${hmac(bench.app.app_secret, `${line.socketId}::user::${userData}`)}`;
    line.send('pusher:signin', { auth, user_data: userData });
  };

  test('who has signed in gets what is sent to them, and nobody else does', async () => {
    const [ana, other] = [await bench.open(), await bench.open()];
    signIn(ana, 'ana');
    expect((await ana.event('pusher:signin_success')).data).toEqual({ user_data: '{"id":"ana"}' });
    expect(await ana.subscribe('#server-to-user-ana')).toMatchObject({
      event: 'pusher_internal:subscription_succeeded',
    });
    expect(await other.subscribe('#server-to-user-ana')).toMatchObject({ event: 'pusher:subscription_error' });
    expect(await ana.subscribe('#server-to-user-ben')).toMatchObject({ event: 'pusher:subscription_error' });
    await bench.server.sendToUser('ana', 'hello', { n: 1 });
    expect(await ana.event('hello')).toMatchObject({ data: { n: 1 } });
  });

  test('an id that is a number signs in, and is told back as it was sent', async () => {
    const line = await bench.open();
    signIn(line, 7);
    expect((await line.event('pusher:signin_success')).data).toEqual({ user_data: '{"id":7}' });
    expect((await line.subscribe('#server-to-user-7')).event).toBe('pusher_internal:subscription_succeeded');
  });

  test('a signature of another connection signs nobody in', async () => {
    const [a, b] = [await bench.open(), await bench.open()];
    const auth = `${bench.app.app_key}:${hmac(bench.app.app_secret, `${b.socketId}::user::{"id":"1"}`)}`;
    a.send('pusher:signin', { auth, user_data: '{"id":"1"}' });
    expect((await a.event('pusher:error')).data).toMatchObject({ code: 4009 });
  });

  test('all their connections end with 4009 when the app says so', async () => {
    const [one, two, member, other] = [await bench.open(), await bench.open(), await bench.open(), await bench.open()];
    for (const line of [one, two]) signIn(line, 'eve');
    for (const line of [one, two]) await line.event('pusher:signin_success');
    await member.subscribe('presence-x', bench.app, { user_id: 'eve' });
    signIn(other, 'ana');
    await other.event('pusher:signin_success');
    await bench.ok('POST', 'disconnect', { user_id: 'eve' });
    expect(await Promise.all([one.ended, two.ended, member.ended])).toEqual([4009, 4009, 4009]);
    await other.settled();
  });
});

describe('cache channels', () => {
  test('who subscribes is told the last message, or that there is none', async () => {
    const line = await bench.open();
    await line.subscribe('cache-weather');
    expect(await line.event('pusher:cache_miss')).toMatchObject({ channel: 'cache-weather' });
    await bench.publish('cache-weather', 'rain', { mm: 1 });
    await bench.publish('cache-weather', 'rain', { mm: 2 });
    const late = await bench.open();
    await late.subscribe('cache-weather');
    expect(await late.event('rain')).toMatchObject({ data: { mm: 2 } });
  });
});
