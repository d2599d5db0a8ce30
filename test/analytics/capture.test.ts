// What analytics.capture stores and charges.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AnalyticsBench, ago } from './harness.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

const NANOS = 10_000n;

test('events are charged one by one, duplicates and rejected ones not', async () => {
  const own = await bench.withAccount();
  const before = await own.balance();
  const uuid = randomUUID();
  const batch = [
    { event: 'a', distinct_id: 'u1', uuid },
    { event: 'a', distinct_id: 'u1', uuid },
    { event: 'b', distinct_id: 'u2', timestamp: ago(400) },
    { event: 'c', distinct_id: 'u2', timestamp: ago(3) },
  ];
  const answer = await own.capture({ items: batch });
  expect(answer).toMatchObject({ accepted: 2, duplicates: 1 });
  expect(answer.rejected).toEqual([{ index: 2, reason: 'timestamp is more than 365 days old.' }]);
  expect(before - (await own.balance())).toBe(2n * NANOS);
  expect(await own.capture({ event: 'a', distinct_id: 'u1', uuid })).toMatchObject({ accepted: 0, duplicates: 1 });
  expect(before - (await own.balance())).toBe(2n * NANOS);
});

test.each([
  ['no event', { distinct_id: 'u' }, 'event'],
  ['nobody who did it', { event: 'a' }, 'distinct_id'],
  ['items and an event', { event: 'a', items: [{ event: 'b', distinct_id: 'u' }] }, 'items'],
])('%s is refused', async (_, sent, param) => {
  const { status, body } = await bench.call('POST', '/v1/analytics/capture', sent);
  expect([status, body.error?.code, body.error?.param]).toEqual([400, 'VALIDATION_FAILED', param]);
});

test('items, and field of a condition, are taken by the names that they had', async () => {
  const own = await bench.withAccount();
  const event = (plan: string) => ({ event: 'before', distinct_id: 'u', properties: { plan } });
  expect(await own.capture({ batch: [event('pro'), event('free')] })).toMatchObject({ accepted: 2 });
  for (const condition of [
    { field: 'plan', operator: 'not_equals', value: 'pro' },
    { property: 'plan', operator: 'is_not', value: 'pro' },
    { property: 'plan', operator: 'is', value: 'free' },
    { field: 'plan', value: 'free' },
  ]) {
    const { series } = await own.ask('trends', { events: ['before'], filter: [condition] });
    expect([condition, series[0].total]).toEqual([condition, 1]);
  }
});

test('of calls with one uuid at once exactly one counts', async () => {
  const own = await bench.withAccount();
  const before = await own.balance();
  const uuids = Array.from({ length: 5 }, () => randomUUID());
  const calls = Array.from({ length: 40 }, (_, i) =>
    own.capture({ event: 'once', distinct_id: `u${i}`, uuid: uuids[i % 5] }),
  );
  const accepted = (await Promise.all(calls)).reduce((sum, { accepted: each }) => sum + each, 0);
  expect(accepted).toBe(5);
  expect(before - (await own.balance())).toBe(5n * NANOS);
});

test('a long batch is one of many blocks, and reads back', async () => {
  const own = await bench.withAccount();
  const batch = Array.from({ length: 1_000 }, (_, i) => ({
    event: `e${i % 3}`,
    distinct_id: `u${i % 100}`,
    timestamp: ago(i % 4, -1_000),
    uuid: randomUUID(),
    properties: { n: i, label: `x${i % 7}`, [`rare${i}`]: true, deep: { a: [1, 2] } },
  }));
  expect(await own.capture({ items: batch })).toMatchObject({ accepted: 1_000 });
  expect((await own.blocks()).reduce((sum, { records }) => sum + records, 0)).toBe(1_000);
});

test('a plain count over many blocks of many days, whole hours or not, is that of the events', async () => {
  const own = await bench.withAccount();
  const DAYS = 90;
  const times = Array.from({ length: 450 }, (_, i) => ago(i % DAYS, -1_000 * i));
  for (let call = 0; call < 2; call += 1) {
    await own.capture({
      items: times.map((timestamp, i) => ({ event: `e${i % 3}`, distinct_id: `u${i}`, timestamp })),
    });
  }
  const counts = async (from: string, to?: string) => {
    const { series } = await own.ask('trends', { events: ['e0', 'e2'], from, to, interval: 'week' });
    return series.map(({ total }: { total: number }) => total);
  };
  const due = (from: string, to: string) =>
    [0, 2].map((name) => 2 * times.filter((time, i) => i % 3 === name && time >= from && time < to).length);
  const now = new Date().toISOString();
  const midnight = `${ago(DAYS + 1).slice(0, 10)}T00:00:00.000Z`;
  for (const [from, to] of [
    [midnight, now],
    [midnight, ago(20, 12_345)],
    [ago(60, 1), ago(3)],
  ] as const)
    expect(await counts(from, to), `${from} ${to}`).toEqual(due(from, to));
});
