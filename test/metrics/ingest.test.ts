import { afterAll, beforeAll, expect, test } from 'vitest';
import { MetricsBench, STALE } from './harness.ts';

let bench: MetricsBench;
beforeAll(async () => {
  bench = await MetricsBench.start();
});
afterAll(() => bench.end());

const second = (ms: number) => ms / 1_000;

test('a point that was stored is what a query answers', async () => {
  const at = new Date(Date.now() - 60_000);
  const points = [
    { name: 'depth', value: 12.5, labels: { queue: 'mail' }, timestamp: at.toISOString() },
    { name: 'depth', value: 3, labels: { queue: 'video' }, timestamp: at.toISOString() },
  ];
  expect(await bench.ingest(points)).toEqual({ accepted: 2, rejected: [], rejected_count: 0 });
  expect(await bench.ok('POST', '/v1/metrics/query', { query: 'depth{queue="mail"}', at: at.toISOString() })).toEqual({
    result_type: 'vector',
    result: [{ metric: { __name__: 'depth', queue: 'mail' }, value: [second(at.getTime()), '12.5'] }],
  });
  expect(await bench.prom('query', { query: 'sum(depth)', time: String(second(at.getTime())) }, 'POST')).toEqual({
    resultType: 'vector',
    result: [{ metric: {}, value: [second(at.getTime()), '15.5'] }],
  });
});

test('items, at, from and to are taken by the names that they had', async () => {
  const own = await bench.withAccount();
  const at = new Date(Date.now() - 60_000).toISOString();
  await own.ok('POST', '/v1/metrics/ingest', { points: [{ name: 'before', value: 7, timestamp: at }] });
  expect((await own.ok('POST', '/v1/metrics/query', { query: 'before', time: at })).result[0].value[1]).toBe('7');
  const range = (times: object) =>
    own.ok('POST', '/v1/metrics/query_range', { query: 'before', step_seconds: 1, ...times });
  const answer = await range({ from: at, to: at });
  expect(answer.result[0].values).toHaveLength(1);
  expect(await range({ start: at, end: at })).toEqual(answer);
});

test('of two samples with one time the later one counts, before and after blocks are merged', async () => {
  const own = await bench.withAccount();
  const at = Date.now() - 300_000;
  const labels = { __name__: 'twice', a: 'b' };
  for (const value of [1, 2, 3]) {
    expect(
      await own.write([
        {
          labels,
          samples: [
            [at, value],
            [at + 15_000, value * 10],
          ],
        },
      ]),
    ).toMatchObject({ status: 204 });
  }
  const ask = () => own.prom('query', { query: 'twice[1m]', time: String(second(at + 20_000)) });
  const expected = {
    metric: labels,
    values: [
      [second(at), '3'],
      [second(at + 15_000), '30'],
    ],
  };
  expect((await ask()).result).toEqual([expected]);
  await own.merge();
  expect((await ask()).result).toEqual([expected]);
});

test('a marker of staleness ends a series, also after blocks are merged', async () => {
  const own = await bench.withAccount();
  const at = Date.now() - 300_000;
  const labels = { __name__: 'ends' };
  await own.write([{ labels, samples: [[at, 7]] }]);
  await own.write([{ labels, samples: [[at + 10_000, STALE]] }]);
  const ask = async (ms: number) =>
    (await own.prom('query', { query: 'ends', time: String(second(ms)) })).result.length;
  expect([await ask(at + 5_000), await ask(at + 10_000)]).toEqual([1, 0]);
  await own.merge();
  expect([await ask(at + 5_000), await ask(at + 10_000)]).toEqual([1, 0]);
});
