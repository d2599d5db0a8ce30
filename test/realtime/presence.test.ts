// Occupancy and presence at two services of one database: what webhooks are told, and what is listed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { PusherBench } from './pusher-bench.ts';
import { PusherLine } from './pusher-line.ts';

let bench: PusherBench;
let second: TestService;
beforeAll(async () => {
  bench = await PusherBench.start();
  second = await startTestService({ database: bench.service.database });
});
afterAll(async () => {
  await second.stop();
  await bench.stop();
});

const there = (of: PusherBench) => PusherLine.open(second.url, of.app.app_key);
const ana = { user_id: 'ana' };

/** The events of the account once so many are there, the first first. */
async function told(of: PusherBench, count: number): Promise<string[]> {
  const own = async () => (await allEvents(of.call)).filter(({ type }) => type.startsWith('realtime.'));
  await expect.poll(async () => (await own()).length).toBeGreaterThanOrEqual(count);
  const events = (await own()).reverse();
  expect(events.flatMap(eventFaults)).toEqual([]);
  return events.map(({ type, data: { object } }) => [type, object.channel, object.user_id].filter(Boolean).join(' '));
}

test('a channel is occupied and vacated once, a member is added and removed once, whichever services they are at', async () => {
  const own = await bench.another();
  const [a, b] = [await own.open(), await there(own)];
  await a.subscribe('presence-r', own.app, ana);
  await b.subscribe('presence-r', own.app, ana);
  a.close();
  await a.ended;
  // The grace of the first is over, and nothing was told.
  await expect.poll(async () => (await own.ok('GET', 'channels')).items[0].subscription_count).toBe(1);
  b.close();
  expect(await told(own, 4)).toEqual([
    'realtime.channel.occupied presence-r',
    'realtime.member.added presence-r ana',
    'realtime.member.removed presence-r ana',
    'realtime.channel.vacated presence-r',
  ]);
  expect((await own.ok('GET', 'channels')).items).toEqual([]);
});

test('a numeric user id comes back as a number', async () => {
  const own = await bench.another();
  const [watcher, a, b] = [await own.open(), await own.open(), await there(own)];
  const first = await watcher.subscribe('presence-n', own.app, { user_id: 7, user_info: { name: 'Ana' } });
  expect(first.data.presence).toEqual({ count: 1, ids: [7], hash: { 7: { name: 'Ana' } } });
  await a.subscribe('presence-n', own.app, { user_id: 10 });
  expect((await watcher.event('pusher_internal:member_added')).data).toEqual({ user_id: 10, user_info: {} });
  const second = await b.subscribe('presence-n', own.app, { user_id: 10 });
  expect(second.data.presence).toMatchObject({ count: 2, ids: expect.arrayContaining([7, 10]) });
  a.close();
  b.close();
  expect((await watcher.event('pusher_internal:member_removed')).data).toEqual({ user_id: 10 });
  const { items } = await own.ok('GET', 'members/presence-n');
  expect(items).toEqual([{ user_id: '7', user_info: { name: 'Ana' } }]);
  watcher.close();
});

test('who comes back to the other service within three seconds was never away', async () => {
  const own = await bench.another();
  const [a, watcher] = [await own.open(), await there(own)];
  await watcher.subscribe('presence-b', own.app, { user_id: 'watcher' });
  await a.subscribe('presence-b', own.app, ana);
  await watcher.event('pusher_internal:member_added');
  a.close();
  await a.ended;
  const again = await there(own);
  await again.subscribe('presence-b', own.app, ana);
  await expect.poll(async () => (await own.ok('GET', 'channels')).items[0].subscription_count).toBe(2);
  await watcher.settled();
  expect(watcher.heard).toEqual([]);
  watcher.close();
  again.close();
  expect((await told(own, 6)).filter((line) => line.includes('ana'))).toEqual([
    'realtime.member.added presence-b ana',
    'realtime.member.removed presence-b ana',
  ]);
});

test('what a process has left that is gone is removed, and told of once', async () => {
  const own = await bench.another();
  const watcher = await own.open();
  await watcher.subscribe('presence-d', own.app, { user_id: 'watcher' });
  const { db } = own.service.core;
  const gone = newId('rtp_');
  await db.query(beGone, [gone]);
  for (const channel of ['presence-d', 'alone']) await db.query(occupy, [own.accountId, channel, gone]);
  for (const user of ['ana', 'watcher']) await db.query(join, [own.accountId, 'presence-d', user, gone]);
  expect((await watcher.event('pusher_internal:member_removed')).data).toEqual({ user_id: 'ana' });
  expect((await told(own, 4)).slice(2).sort()).toEqual([
    'realtime.channel.vacated alone',
    'realtime.member.removed presence-d ana',
  ]);
  const { items } = await own.ok('GET', 'channels');
  expect(items).toEqual([{ channel: 'presence-d', occupied: true, subscription_count: 1, user_count: 1 }]);
});

test('channels are listed by prefix, page by page, with their counts', async () => {
  const own = await bench.another();
  const line = await own.open();
  for (let i = 0; i < 7; i += 1) await line.subscribe(`page-${i}`);
  await line.subscribe('presence-p', own.app, ana);
  await line.subscribe('zone');
  await expect.poll(async () => (await own.ok('GET', 'channels')).items.length).toBe(9);
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await own.ok('GET', `channels?prefix=page-&limit=3${cursor}`);
    names.push(...page.items.map(({ channel }: { channel: string }) => channel));
    if (!page.has_more) break;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `page-${i}`));
  const presence = await own.ok('GET', 'channels?prefix=presence-');
  expect(presence.items).toEqual([{ channel: 'presence-p', occupied: true, subscription_count: 1, user_count: 1 }]);
});

test('another account has the same names and sees nothing of these', async () => {
  const [one, other] = [await bench.another(), await bench.another()];
  const [a, b] = [await one.open(), await other.open()];
  await a.subscribe('presence-same', one.app, ana);
  const joined = await b.subscribe('presence-same', other.app, { user_id: 'ben' });
  expect(joined.data.presence.ids).toEqual(['ben']);
  await one.publish('presence-same', 'secret', {});
  await one.ok('POST', 'disconnect', { user_id: 'ben' });
  await other.publish('presence-same', 'own', {});
  await b.event('own');
  expect(b.heard).toEqual([]);
  expect((await other.ok('GET', 'members/presence-same')).items).toEqual([{ user_id: 'ben', user_info: {} }]);
});

const beGone = {
  name: 'test_realtime_gone',
  text: `INSERT INTO realtime.process (process_id, is_ended, lease_until) VALUES ($1, false, clock_timestamp() - interval '1 second')`,
};
const occupy = {
  name: 'test_realtime_occupy',
  text: 'INSERT INTO realtime.occupancy (account_id, channel, process_id, subscriptions) VALUES ($1, $2, $3, 1)',
};
const join = {
  name: 'test_realtime_join',
  text: `INSERT INTO realtime.presence (account_id, channel, user_id, process_id, user_info) VALUES ($1, $2, $3, $4, '{}')`,
};
