// How one message comes to many streams: made once, written in slices of the event loop, and held within bounds for whoever reads slowly.
import { expect, test } from 'vitest';
import type { Queryable } from '../../../db/database.ts';
import { Deliveries } from '../feed/delivery.ts';
import { AccountFeed, type Subscriber } from '../feed/feed.ts';
import { UNREAD_BYTES_MAX } from '../limits.ts';
import type { Message } from '../publish/message.ts';
import { StreamSubscription } from './subscription.ts';

const WAIT_MS = 5_000;
const noDatabase = {} as Queryable;

const message = (seq: number, data = '{}', channel = 'a'): Message => {
  return { seq: BigInt(seq), channel, event: 'e', data, socketId: null, userId: null };
};

function setUp(unreadBytesMax = 64 * UNREAD_BYTES_MAX) {
  const deliveries = new Deliveries(unreadBytesMax);
  const feed = new AccountFeed('acc_1', 0n, deliveries);
  const stream = (channel = 'a') => new StreamSubscription(noDatabase, feed, [channel], 0n);
  return { deliveries, feed, stream };
}

/** Turns of the event loop while something goes on. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return turns;
}

test('all streams of a channel get the same bytes of a message', async () => {
  const { feed, stream, deliveries } = setUp();
  const streams = Array.from({ length: 400 }, () => stream());
  const coming = streams.map((each) => each.next(WAIT_MS));
  await feed.deliver(message(1, JSON.stringify('x'.repeat(10_000))));
  const [first, ...rest] = await Promise.all(coming);
  expect(String(first)).toContain('xxx');
  expect(rest.every((bytes) => bytes === first)).toBe(true);
  expect(deliveries.unreadBytes).toBe(0);
});

test('streams that wait for a message are woken one after the other, in turns of the event loop', async () => {
  const { feed, stream } = setUp();
  const streams = Array.from({ length: 50 }, () => stream());
  const coming = streams.map((each) => each.next(WAIT_MS));
  await Promise.resolve();
  const turns = await turnsOf(feed.deliver(message(1)).then(() => Promise.all(coming)));
  // The first may share its turn with the delivery; woken at once, all would take two or three.
  expect(turns).toBeGreaterThan(40);
});

test('a delivery to many that takes long lets others have their turns', async () => {
  const { feed } = setUp();
  const slow = (): Subscriber => ({
    deliver() {
      const untilMs = performance.now() + 1;
      while (performance.now() < untilMs);
    },
  });
  for (let i = 0; i < 50; i += 1) feed.subscribe('a', slow());
  expect(await turnsOf(feed.deliver(message(1)))).toBeGreaterThanOrEqual(5);
});

test('a stream whose client does not read is ended at its bound, and holds nothing', async () => {
  const { feed, stream, deliveries } = setUp();
  const [slow, quick] = [stream(), stream()];
  const data = JSON.stringify('x'.repeat(100_000));
  let read = 0;
  for (let seq = 1; seq <= 12; seq += 1) {
    await feed.deliver(message(seq, data));
    read += (await quick.next(WAIT_MS))?.length ?? 0;
  }
  expect(slow.isTooSlow).toBe(true);
  expect(quick.isTooSlow).toBe(false);
  expect(read).toBeGreaterThan(12 * 100_000);
  expect(deliveries.unreadBytes).toBe(0);
});

test('slow streams of an account hold no more than its share together, and each message counts once', async () => {
  const { feed, stream, deliveries } = setUp(1_000_000);
  const data = JSON.stringify('x'.repeat(100_000));
  const same = Array.from({ length: 100 }, () => stream('same'));
  await feed.deliver(message(1, data, 'same'));
  expect(deliveries.unreadBytes).toBeLessThan(102_000);
  const others = Array.from({ length: 20 }, (_, i) => stream(`c${i}`));
  for (let i = 0; i < 20; i += 1) await feed.deliver(message(2 + i, data, `c${i}`));
  expect(deliveries.unreadBytes).toBeLessThanOrEqual(500_000);
  expect(same.some(({ isTooSlow }) => isTooSlow)).toBe(false);
  expect(others.filter(({ isTooSlow }) => isTooSlow).length).toBeGreaterThan(10);
  for (const each of [...same, ...others]) each.end();
  expect(deliveries.unreadBytes).toBe(0);
});

test('what was there when a stream ended is not held, and nothing comes behind it', async () => {
  const { feed, stream, deliveries } = setUp();
  const own = stream();
  const delivering = feed.deliver(message(1));
  own.end();
  await delivering;
  expect(deliveries.unreadBytes).toBe(0);
  expect(await own.next(WAIT_MS)).toBeNull();
});
