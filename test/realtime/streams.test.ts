// Streams of messages: what is published comes once and in order, a stream that is resumed misses nothing, and a token only listens.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen, RealtimeBench } from './harness.ts';

let shared: RealtimeBench;
beforeAll(async () => {
  shared = await RealtimeBench.start();
});
afterAll(() => shared.service.stop());

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

describe('a stream', () => {
  test('tells what is published to its channels, in order and once', async () => {
    const own = await shared.another();
    const stream = await own.listen('a,b');
    for (const n of numbers(20)) await own.publish(n % 2 === 0 ? 'a' : 'b', 'n', { n });
    await own.publish('c', 'other', 1);
    await own.publish('a', 'last', [1, 'two', null]);
    const events = await stream.take(21);
    expect(events.slice(0, 20).map(({ data }) => data.data.n)).toEqual(numbers(20));
    expect(events[20]?.data).toMatchObject({ channel: 'a', event: 'last', data: [1, 'two', null] });
    expect(new Set(events.map(({ id }) => id)).size).toBe(21);
    expect(events.map(({ id }) => id)).toEqual(events.map(({ data }) => data.message_id));
    stream.leave();
  });

  test('of many at once keeps the order of their ids', async () => {
    const own = await shared.another();
    const stream = await own.listen('a');
    const ids = await Promise.all(numbers(200).map((n) => own.publish('a', 'n', n)));
    const events = await stream.take(200);
    expect(events.map(({ id }) => id)).toEqual([...ids].sort());
    stream.leave();
  });

  test('that is resumed misses nothing and repeats nothing', async () => {
    const own = await shared.another();
    const first = await own.listen('a,b');
    const ids: string[] = [];
    for (const n of numbers(5)) ids.push(await own.publish('a', 'n', n));
    const seen = await first.take(3);
    first.leave();
    for (const n of numbers(150, 5)) ids.push(await own.publish(n % 3 === 0 ? 'b' : 'a', 'n', n));
    const again = await own.listen('a,b', seen.at(-1)?.id);
    ids.push(await own.publish('a', 'n', 155));
    const rest = await again.take(153);
    expect(rest.map(({ data }) => data.data)).toEqual(numbers(153, 3));
    expect(rest.map(({ id }) => id)).toEqual(ids.slice(3));
    again.leave();
  });

  test('says that something is missing when the history is shorter', async () => {
    const own = await shared.another();
    const id = await own.publish('a', 'n', 1);
    await own.publish('a', 'n', 2);
    await own.ok('PUT', 'settings/set', { history_seconds: 0 });
    const stream = await own.listen('a', id);
    expect(await stream.next()).toMatchObject({ event: 'gap', data: { reason: 'history_ended' } });
    await own.publish('a', 'n', 3);
    expect((await stream.next())?.data.data).toBe(3);
    stream.leave();
  });

  test('of another account gets nothing', async () => {
    const [own, other] = [await shared.another(), await shared.another()];
    const stream = await other.listen('a');
    await own.publish('a', 'n', 'mine');
    await other.publish('a', 'n', 'theirs');
    expect((await stream.next())?.data.data).toBe('theirs');
    stream.leave();
  });
});

describe('a token', () => {
  test('listens to its channels and to no others, until it ends', async () => {
    const own = await shared.another();
    const { token, expires_at: expiresAt } = await own.ok('POST', 'authorize', {
      channels: ['a'],
      expires_seconds: 60,
    });
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 60_000);
    const stream = await listen(own.service.url, `token=${token}&channels=b`, null);
    await own.publish('b', 'n', 'no');
    await own.publish('a', 'n', 'yes');
    expect((await stream.next())?.data.data).toBe('yes');
    stream.leave();
  });

  test('that is forged, of another signature, or none is refused', async () => {
    const own = await shared.another();
    const { token } = await own.ok('POST', 'authorize', { channels: ['a'] });
    const [head, mac] = token.slice(4).split('.');
    const changed = JSON.parse(Buffer.from(head, 'base64url').toString());
    changed[2] = ['private-secret'];
    const forged = `rts_${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${mac}`;
    const late = JSON.stringify([changed[0], 1, ['a']]);
    for (const wrong of [
      forged,
      `${token}0`,
      token.slice(0, -1),
      'rts_',
      'rts_e30.00',
      'x',
      `rts_${btoa(late)}.${mac}`,
    ]) {
      const reply = await listen(own.service.url, `token=${wrong}`, null);
      expect(reply.status).toBe(401);
    }
  });

  test('ends with the secret of the app', async () => {
    const own = await shared.another();
    const { token } = await own.ok('POST', 'authorize', { channels: ['a'] });
    const before = await own.ok('GET', 'app');
    const stream = await listen(own.service.url, `token=${token}`, null);
    const after = await own.ok('POST', 'app/rotate', { grace_hours: 0 });
    expect(after).toMatchObject({ app_id: before.app_id, app_key: before.app_key });
    expect(after.app_secret).not.toBe(before.app_secret);
    expect(await own.ok('GET', 'app')).toEqual(after);
    expect(await stream.next()).toBeNull();
    expect((await listen(own.service.url, `token=${token}`, null)).status).toBe(401);
  });
});

test('history shows messages oldest first, page by page, as long as they are kept', async () => {
  const own = await shared.another();
  for (const n of numbers(7)) await own.publish('a', 'n', n);
  const first = await own.ok('GET', 'history/a?limit=4');
  expect(first.items.map(({ data }: { data: number }) => data)).toEqual(numbers(4));
  expect(first.has_more).toBe(true);
  const rest = await own.ok('GET', `history/a?limit=4&after=${first.last_message_id}`);
  expect(rest.items.map(({ data }: { data: number }) => data)).toEqual(numbers(3, 4));
  expect(rest).toMatchObject({ has_more: false, last_message_id: rest.items[2].message_id });
  await own.ok('PUT', 'settings/set', { history_seconds: 0 });
  expect((await own.ok('GET', 'history/a')).items).toEqual([]);
});

test('a publish to several channels stores its data once, and costs each', async () => {
  const own = await shared.another();
  const channels = numbers(100).map((n) => `c${n}`);
  const stream = await own.listen('c0,c99');
  const reply = await own.call('POST', '/v1/realtime/publish', { channels, event: 'e', data: 'x'.repeat(10_000) });
  expect(reply.body.metadata.cost_usd).toBeCloseTo(0.0002, 9);
  const events = await stream.take(2);
  expect(events.map(({ data }) => [data.channel, data.data.length])).toEqual([
    ['c0', 10_000],
    ['c99', 10_000],
  ]);
  stream.leave();
});

test.each([
  [{ channel: 'a b', event: 'e', data: 1 }, 'channel'],
  [{ channels: [], event: 'e', data: 1 }, 'channels'],
  [{ event: 'e', data: 1 }, 'channel'],
  [{ channel: 'a', channels: ['b'], event: 'e', data: 1 }, 'channels'],
  [{ channel: 'a', event: 'pusher:x', data: 1 }, 'event'],
  [{ channel: 'a', event: 'e' }, 'data'],
  [{ channel: 'a', event: 'e', data: 'x'.repeat(10_241) }, 'data'],
  [{ channel: 'a', event: 'e', data: 1, socket_id: 'x' }, 'socket_id'],
])('a publish of %j is refused, naming the field', async (body, param) => {
  const reply = await shared.call('POST', '/v1/realtime/publish', body);
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.body.error.param).toBe(param);
});
