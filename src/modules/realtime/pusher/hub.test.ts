import { expect, test } from 'vitest';
import { Deliveries } from '../feed/delivery.ts';
import { AccountFeed } from '../feed/feed.ts';
import type { Message } from '../publish/message.ts';
import { begin, type Connection, Hub, type Subscription, TERMINATE } from './hub.ts';

class Line implements Connection {
  readonly socketId: string;
  readonly got: string[] = [];
  isOver = false;

  constructor(socketId: string) {
    this.socketId = socketId;
  }

  send(frame: string | Buffer): void {
    this.got.push(JSON.parse(String(frame)).event);
  }

  terminate(): void {
    this.isOver = true;
  }
}

const message = (seq: number, event = `n${seq}`, socketId: string | null = null): Message => {
  return { seq: BigInt(seq), channel: 'a', event, data: '{}', socketId, userId: null };
};
const on = (connection: Line, pending: [] | null = null): Subscription => {
  return { connection, member: null, sinceSeq: 0n, pending };
};

function setUp() {
  return { hub: new Hub(), feed: new AccountFeed('acc_1', 0n, new Deliveries(1_000_000)) };
}

test('a message goes to each subscriber but the one that it leaves out', async () => {
  const { hub, feed } = setUp();
  const lines = ['1.1', '2.2', '3.3'].map((id) => new Line(id));
  for (const line of lines) hub.add(feed, 'a', on(line));
  await feed.deliver(message(1, 'x', '2.2'));
  expect(lines.map(({ got }) => got)).toEqual([['x'], [], ['x']]);
});

test('who joins gets what is behind the list of members, once and in order', async () => {
  const { hub, feed } = setUp();
  const line = new Line('1.1');
  const subscription = on(line, []);
  hub.add(feed, 'a', subscription);
  for (const seq of [1, 2, 3]) await feed.deliver(message(seq));
  expect(line.got).toEqual([]);
  begin(subscription, 2n);
  await feed.deliver(message(4));
  expect(line.got).toEqual(['n3', 'n4']);
});

test('who waits for a list that does not come is ended, and holds no more than 1,000 messages', async () => {
  const { hub, feed } = setUp();
  const line = new Line('1.1');
  const subscription = on(line, []);
  hub.add(feed, 'a', subscription);
  for (let seq = 1; seq <= 1_001; seq += 1) await feed.deliver(message(seq));
  expect(line.isOver).toBe(true);
  expect(subscription.pending?.length).toBe(1_000);
});

test('10,000 subscribers do not hold the event loop for long, and no message overtakes another', async () => {
  const { hub, feed } = setUp();
  const lines = Array.from({ length: 10_000 }, (_, i) => new Line(`${i}.1`));
  for (const line of lines) hub.add(feed, 'a', on(line));
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 0);
  for (const seq of [1, 2, 3]) await feed.deliver(message(seq));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
  for (const line of lines) expect(line.got).toEqual(['n1', 'n2', 'n3']);
});

test('a room is forgotten when nobody has come back, and not before', () => {
  const { hub, feed } = setUp();
  const [first, second] = [on(new Line('1.1')), on(new Line('2.2'))];
  expect(hub.add(feed, 'a', first)).toBe(true);
  expect(hub.add(feed, 'a', second)).toBe(false);
  expect(hub.remove(feed, 'a', first)).toBe(false);
  expect(hub.remove(feed, 'a', second)).toBe(true);
  expect(hub.remove(feed, 'a', second)).toBe(false);
  hub.add(feed, 'a', first);
  hub.drop('acc_1', 'a');
  expect(hub.room('acc_1', 'a')).toBeDefined();
  hub.remove(feed, 'a', first);
  hub.drop('acc_1', 'a');
  expect([...hub.rooms()]).toEqual([]);
});

test('a user ends with all connections, and the channel tells nobody', async () => {
  const { hub, feed } = setUp();
  const [one, two, other] = [new Line('1.1'), new Line('2.2'), new Line('3.3')];
  for (const line of [one, two]) hub.addUser(feed, 'ana', line);
  hub.addUser(feed, 'ben', other);
  hub.add(feed, '#server-to-user-ana', on(one));
  await feed.deliver({ ...message(1, TERMINATE), channel: '#server-to-user-ana' });
  expect([one, two, other].map(({ isOver }) => isOver)).toEqual([true, true, false]);
  expect(one.got).toEqual([]);
});
