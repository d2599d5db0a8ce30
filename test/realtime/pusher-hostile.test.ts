// What no client of the protocol sends: every size and fragment, wrong frames, too many of everything.
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PusherBench } from './pusher-bench.ts';
import { authOf, type PusherLine } from './pusher-line.ts';

let bench: PusherBench;
beforeAll(async () => {
  bench = await PusherBench.start({ env: { RATE_LIMITS: 'off' } });
});
afterEach(() => bench.closeLines());
afterAll(() => bench.stop());

test.each([
  ['no JSON', '{'],
  ['an array', '[]'],
  ['a number', '1'],
  ['nothing', ''],
  ['no event', '{"data":{}}'],
  ['an event that is an object', '{"event":{}}'],
  ['nested data', `{"event":"pusher:subscribe","data":${'['.repeat(60_000)}`],
  ['nested data as text', JSON.stringify({ event: 'pusher:subscribe', data: '['.repeat(10_000) })],
  ['an event of the service', '{"event":"pusher_internal:member_added","channel":"a","data":{}}'],
  ['an event that is no client event', '{"event":"hello","channel":"a","data":{}}'],
  ['a subscription to nothing', '{"event":"pusher:subscribe"}'],
  ['a subscription to an object', '{"event":"pusher:subscribe","data":{"channel":{}}}'],
  ['a subscription to a prototype', '{"event":"pusher:subscribe","data":{"channel":["__proto__"]}}'],
  ['a sign-in with nothing', '{"event":"pusher:signin","data":null}'],
])('%s is told of, and the connection goes on', async (_what, text) => {
  const line = await bench.open();
  line.ws.send(text);
  await line.event('pusher:error');
  await line.settled();
});

test('bytes that are no text are told of', async () => {
  const line = await bench.open();
  line.ws.send(Buffer.from('{"event":"pusher:ping"}'), { binary: true });
  await line.event('pusher:error');
  await line.settled();
});

test('of all bytes those that may stand in a name make a channel, and the others none', async () => {
  const line = await bench.open();
  const fits: string[] = [];
  for (let byte = 1; byte < 128; byte += 1) {
    const name = `a${String.fromCharCode(byte)}`;
    if ((await line.subscribe(name)).event === 'pusher:subscription_error') continue;
    fits.push(name.slice(1));
    line.send('pusher:unsubscribe', { channel: name });
  }
  expect(fits.join('')).toBe(',-.0123456789;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');
  const other = await bench.open();
  for (const name of ['', 'é', '#server-to-user-', '\u0000', 'a'.repeat(201)])
    other.send('pusher:subscribe', { channel: name });
  for (let n = 0; n < 5; n += 1) await other.event('pusher:subscription_error');
});

describe('too many', () => {
  test('a connection has 100 channels', async () => {
    const line = await bench.open();
    for (let n = 0; n < 100; n += 1) line.send('pusher:subscribe', { channel: `many-${n}` });
    await line.next(({ channel }) => channel === 'many-99');
    expect((await line.subscribe('many-100')).data).toMatchObject({ type: 'LimitReached', status: 4004 });
    line.send('pusher:unsubscribe', { channel: 'many-0' });
    expect((await line.subscribe('many-100')).event).toBe('pusher_internal:subscription_succeeded');
  });

  test('100,000 subscriptions end the connection that asks for them, and no other one', async () => {
    const [flood, calm] = [await bench.open(), await bench.open()];
    await calm.subscribe('calm');
    for (let n = 0; n < 100_000; n += 1) flood.send('pusher:subscribe', { channel: `flood-${n}` });
    expect(await flood.ended).toBe(4100);
    await bench.publish('calm', 'still', {});
    await calm.event('still');
  });

  test('a message of a megabyte ends the connection', async () => {
    const line = await bench.open();
    line.ws.send('x'.repeat(1024 * 1024));
    expect(await line.ended).toBe(1009);
  });

  test('who reads nothing is closed, and the others get all of it in order', async () => {
    const [slow, quick] = [await bench.open(), await bench.open()];
    for (const line of [slow, quick]) await line.subscribe('big');
    (slow.ws as unknown as { _socket: { pause(): void } })._socket.pause();
    const data = 'x'.repeat(10_000);
    const count = 700;
    for (let n = 0; n < count; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, i) => bench.publish('big', `n${n + i}`, data)));
    const got: string[] = [];
    while (got.length < count) got.push((await quick.next(({ channel }) => channel === 'big')).event);
    expect(new Set(got).size).toBe(count);
    const { items } = await bench.ok('GET', 'channels?prefix=big');
    expect(items.length).toBe(1);
    await expect.poll(async () => (await bench.ok('GET', 'channels?prefix=big')).items[0].subscription_count).toBe(1);
  });
});

test('a frame in every fragment is read as one', async () => {
  const line = await bench.open();
  const text = JSON.stringify({ event: 'pusher:subscribe', data: { channel: 'whole', pad: 'é'.repeat(20) } });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 1)
    line.ws.send(bytes.subarray(at, at + 1), { fin: at === bytes.length - 1, binary: false });
  expect((await line.next(({ channel }) => channel === 'whole')).event).toBe('pusher_internal:subscription_succeeded');
});

test('what a server signs for one connection is right for no later one', async () => {
  const first = await bench.open();
  const auth = authOf(bench.app, first.socketId, 'private-replay');
  first.ws.terminate();
  await once(first.ws, 'close').catch(() => undefined);
  const later = await bench.open();
  later.send('pusher:subscribe', { channel: 'private-replay', auth });
  expect((await later.event('pusher:subscription_error')).data).toMatchObject({ status: 4009 });
});

test('connections of a tier are counted, and the next one is told 4004', async () => {
  const own = await bench.another();
  const lines: PusherLine[] = [];
  for (let n = 0; n < 500; n += 20) lines.push(...(await Promise.all(Array.from({ length: 20 }, () => own.open()))));
  const over = await own.open();
  expect(over.heard[0]).toMatchObject({ event: 'pusher:error', data: { code: 4004 } });
  expect(await over.ended).toBe(4004);
  lines[0]?.close();
  await lines[0]?.ended;
  await expect.poll(async () => (await own.open()).socketId).not.toBe('');
});

test('a revoked app ends its connections', async () => {
  const own = await bench.another();
  const line = await own.open();
  const { body } = await own.call('DELETE', `/v1/account/keys/revoke/${own.app.app_key}`);
  expect(body.error ?? null).toBeNull();
  expect(await line.ended).toBe(4009);
});
