// Events that nobody means well: names by the hundred thousand, names that objects of JavaScript know, numbers that are none, depth without end.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { AnalyticsBench } from './harness.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

/** Names of properties an event, each of which no other event has. */
const NAMES = isSoak ? 250 : 8;

test('thousands of properties with names of their own are stored, asked for and merged as any others', async () => {
  const own = await bench.withAccount();
  let name = 0;
  const batch = Array.from({ length: 1_000 }, (_, i) => ({
    event: 'wide',
    distinct_id: `u${i % 3}`,
    properties: Object.fromEntries(Array.from({ length: NAMES }, () => [`n${name++}`, 1])),
  }));
  expect(await own.capture({ items: batch })).toMatchObject({ accepted: 1_000 });
  const more = batch.map((event) => ({
    ...event,
    properties: Object.fromEntries(Array.from({ length: NAMES }, () => [`n${name++}`, 1])),
  }));
  expect(await own.capture({ items: more })).toMatchObject({ accepted: 1_000 });
  const counted = async (filter: object[]) =>
    (await own.ask('trends', { events: ['wide'], interval: 'day', filter })).series[0].total;
  const both = async () => [
    await counted([]),
    await counted([{ field: 'n7', value: '1' }]),
    await counted([{ field: `n${2_000 * NAMES - 1}`, operator: 'is_set' }]),
  ];
  expect(await both()).toEqual([2_000, 1, 1]);
  await own.sweep('merge');
  expect(await both()).toEqual([2_000, 1, 1]);
});

test('an account asks two questions at once, and the next ones when those have ended', async () => {
  const own = await bench.withAccount();
  const asked = () => own.call('POST', '/v1/analytics/trends', {});
  const replies = await Promise.all(Array.from({ length: 20 }, asked));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, body } of refused) expect([status, body.error.code]).toEqual([429, 'CONCURRENCY_LIMITED']);
  expect((await Promise.all([asked(), asked()])).map(({ status }) => status)).toEqual([200, 200]);
});

test('names that objects know, and values of every kind, come back as they were sent', async () => {
  const own = await bench.withAccount();
  const json = `{"__proto__":{"polluted":1},"constructor":"c","toString":null,"hasOwnProperty":[1,[2]],"":"empty","n":1e308,"m":-0.0,"k":9007199254740993,"t":"\\ud83d\\ude00"}`;
  const reply = await fetch(`${own.service.url}/v1/analytics/capture`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.account.secret}`, 'content-type': 'application/json' },
    body: `{"event":"__proto__","distinct_id":"constructor","properties":${json}}`,
  });
  expect(reply.status, await reply.text()).toBe(200);
  const [event] = await own.events({ event: '__proto__' });
  expect(event).toMatchObject({ event: '__proto__', distinct_id: 'constructor' });
  expect(event.properties).toMatchObject({ constructor: 'c', hasOwnProperty: [1, [2]], n: 1e308, t: '😀' });
  expect(Object.hasOwn(event.properties, '__proto__')).toBe(true);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  const { series } = await own.ask('trends', { events: ['__proto__'], interval: 'day', breakdown: '__proto__' });
  expect(series[0].total).toBe(1);
});

test('conditions need a fitting value, are few in a funnel, and long lists of values cost no more than short ones', async () => {
  const own = await bench.withAccount();
  const batch = Array.from({ length: 1_000 }, (_, i) => ({
    event: 'e',
    distinct_id: 'd',
    uuid: `u${i}`,
    properties: { text: `value ${i}` },
  }));
  await own.capture({ items: batch });
  const list = Array.from({ length: 100 }, (_, i) => `value ${i}`);
  const counted = async (operator: string, value?: unknown) =>
    (await own.ask('trends', { events: ['e'], filter: [{ field: 'text', operator, value }] })).series[0].total;
  expect(await Promise.all([counted('equals', list), counted('not_equals', list)])).toEqual([100, 900]);
  expect(await Promise.all([counted('contains', ['LUE 99', 'x']), counted('not_contains', 'lue 99')])).toEqual([
    11, 989,
  ]);
  const refused = async (path: string, body: object) => (await own.fails('POST', `/v1/analytics/${path}`, body)).param;
  const wrong = [{ operator: 'contains', value: list }, { operator: 'gt', value: 'a' }, { operator: 'equals' }];
  for (const each of wrong)
    expect(await refused('trends', { filter: [{ field: 'text', ...each }] })).toBe('filter[0].value');
  const filter = Array.from({ length: 7 }, () => ({ field: 'text', operator: 'contains', value: 'a' }));
  const steps = Array.from({ length: 3 }, () => ({ event: 'e', filter }));
  expect(await refused('funnel', { steps })).toBe('steps');
});

test('what is too deep, too wide or no number is refused by its place, and the others are stored', async () => {
  const own = await bench.withAccount();
  const deep = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((of) => ({ of }), 1);
  const event = (properties: object) => ({ event: 'e', distinct_id: 'd', properties });
  const wide = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`p${i}`, i]));
  const { accepted, rejected } = await own.capture({
    items: [
      event({ a: 1 }),
      event(wide),
      event({ deep: deep(20) }),
      event({ text: 'x'.repeat(70_000) }),
      event({ b: 2 }),
    ],
  });
  expect([accepted, rejected.map(({ index }: { index: number }) => index)]).toEqual([2, [1, 2, 3]]);
  const { code } = await own.fails('POST', '/v1/analytics/capture', event({ deep: deep(40) }));
  expect(code).toBe('MALFORMED_JSON');
});

test('of one UUID sent to two processes at once one event counts, and is charged', async () => {
  const own = await bench.withAccount();
  const second = await startTestService({ database: bench.service.database });
  try {
    const other = new AnalyticsBench(second, own.account);
    const before = await own.balance();
    const uuids = Array.from({ length: 6 }, (_, i) => `shared-${i}`);
    const calls = Array.from({ length: 40 }, (_, i) => {
      const batch = uuids.map((uuid) => ({ event: 'once', distinct_id: 'd', uuid }));
      return (i % 2 === 0 ? own : other).capture({ items: batch });
    });
    const accepted = (await Promise.all(calls)).reduce((sum, each) => sum + each.accepted, 0);
    expect(accepted).toBe(6);
    expect(before - (await own.balance())).toBe(60_000n);
    expect(await own.events({ event: 'once' })).toHaveLength(6);
  } finally {
    await second.stop();
  }
});

test('a form of a million fields without a key costs its sender a refusal, and the service nothing', async () => {
  const body = gzipSync(Buffer.concat([Buffer.from('data='), Buffer.alloc(1_048_576, 'a&')]));
  const before = process.cpuUsage();
  const reply = await fetch(`${bench.host}/e/`, { method: 'POST', body, headers: { 'content-encoding': 'gzip' } });
  expect(reply.status, await reply.text()).toBe(401);
  const { user, system } = process.cpuUsage(before);
  // It took 3.4 s when fields were counted.
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test('what a call says of people is bounded', async () => {
  const own = await bench.withAccount();
  const set = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, 'x'.repeat(100)]));
  const batch = Array.from({ length: 100 }, () => ({ event: '$set', distinct_id: 'one', properties: { $set: set } }));
  const { accepted, rejected } = await own.capture({ items: batch });
  expect(accepted + rejected.length).toBe(100);
  expect(rejected[0].reason).toContain('together');
  expect((await own.ok('GET', '/v1/analytics/person/one')).properties).toEqual(set);
});
