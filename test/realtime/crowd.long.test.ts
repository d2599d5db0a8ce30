// Many at once: a thousand members of one channel and not one more, and a stream whose reader stops reading.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTier } from '../../src/core/accounts/accounts.ts';
import { createTestAccount } from '../support/service.ts';
import { RealtimeBench, type StreamedEvent } from './harness.ts';
import { PusherBench } from './pusher-bench.ts';
import { PusherLine } from './pusher-line.ts';

const MEMBERS = 1_000;
const AT_ONCE = 25;
const CHANNEL = 'presence-crowd';

let bench: PusherBench;
beforeAll(async () => {
  bench = await PusherBench.start();
});
afterAll(() => bench.stop());

test('a presence channel has a thousand members, whom all see, and refuses the next', {
  timeout: 120_000,
}, async () => {
  const { db } = bench.service.core;
  await db.transaction((tx) => setTier(tx, bench.accountId, 'pro'));
  const numbers = Array.from({ length: MEMBERS }, (_, n) => n);
  const join = async () => {
    for (let n = numbers.pop(); n !== undefined; n = numbers.pop()) {
      const line = await bench.open();
      const joined = await line.subscribe(CHANNEL, bench.app, {
        user_id: `user-${n}`,
        user_info: { name: `User ${n}` },
      });
      expect(joined.event).toBe('pusher_internal:subscription_succeeded');
    }
  };
  const first = await bench.open();
  await first.subscribe('private-watch', bench.app);
  await Promise.all(Array.from({ length: AT_ONCE }, join));
  const late = await bench.open();
  const refused = await late.subscribe(CHANNEL, bench.app, { user_id: 'one more', user_info: {} });
  expect(refused).toMatchObject({ event: 'pusher:subscription_error', data: { type: 'LimitReached' } });
  const again = await (await bench.open()).subscribe(CHANNEL, bench.app, { user_id: 'user-0', user_info: {} });
  expect(again.data.presence.count).toBe(MEMBERS);
  const { items } = await bench.ok('GET', `channels?prefix=${CHANNEL}`);
  expect(items[0]).toMatchObject({ channel: CHANNEL, user_count: MEMBERS });
});

test('a stream that is not read is ended, and misses nothing when it comes again', { timeout: 60_000 }, async () => {
  const own = new RealtimeBench(bench.service, await createTestAccount(bench.service.core, 5));
  const messages = 1_200;
  const stream = await own.listen('a');
  const text = 'x'.repeat(10_000);
  for (let at = 0; at < messages; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, i) => own.publish('a', 'n', { n: at + i, text })));
  const seen: StreamedEvent[] = [];
  let [listener, ends] = [stream, 0];
  while (seen.length < messages) {
    const event = await listener.next();
    if (event !== null) {
      seen.push(event);
      continue;
    }
    ends += 1;
    listener = await own.listen('a', seen.at(-1)?.id);
  }
  listener.leave();
  expect(ends).toBeGreaterThan(0);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(messages);
  expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted());
});

test('a socket that is not read is closed', {
  timeout: 60_000,
}, async () => {
  const own = await bench.another();
  const line = await PusherLine.open(own.service.url, own.app.app_key);
  await line.subscribe('a');
  line.ws.pause();
  const text = 'x'.repeat(10_000);
  for (let at = 0; at < 1_200; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, i) => own.publish('a', 'n', { n: at + i, text })));
  line.ws.resume();
  // With its code, where that still finds room in time.
  expect([4100, 1006]).toContain(await line.ended);
});
