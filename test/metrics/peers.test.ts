// Debian's Prometheus writes to us, and answers beside us. Skipped where it is absent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelsOf } from '../../src/modules/metrics/promql/labels.ts';
import { MetricsBench } from './harness.ts';
import { hasPrometheus, type Prometheus, remoteWrite, startPrometheus } from './prometheus.ts';

let bench: MetricsBench;
beforeAll(async () => {
  bench = await MetricsBench.start();
});
afterAll(() => bench.end());

describe.skipIf(!hasPrometheus)(`beside Debian's Prometheus${hasPrometheus ? '' : ' (not installed here)'}`, () => {
  let peer: Prometheus;
  const endMs = Math.floor(Date.now() / 60_000) * 60_000;
  const startMs = endMs - 3_600_000;
  beforeAll(async () => {
    peer = await startPrometheus(
      (port) => `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: self, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }]
remote_write:
  - url: ${bench.prometheus}/api/v1/write
    authorization: { credentials: ${bench.account.secret} }
    metadata_config: { send_interval: 1s }
`,
    );
    const series = Array.from({ length: 12 }, (_, n) => {
      const times = Float64Array.from({ length: 240 }, (_, i) => startMs + i * 15_000 + n * 100);
      let total = 0;
      const values = times.map((_, i) => {
        total = i === 120 ? 0 : total + ((i * (n + 3) * 7919) % 101) / 4;
        return total;
      });
      const labels = labelsOf([
        ['__name__', 'sent_total'],
        ['job', `j${n % 3}`],
        ['instance', `i${n}`],
        ['le', String(n)],
      ]);
      return { labels, times, values };
    });
    await peer.write(series);
    // Prometheus passes on what is newer than its start only.
    expect(await bench.writeBytes(remoteWrite(series))).toMatchObject({ status: 204 });
    await bench.merge();
  });
  afterAll(() => peer.stop());

  test.each([
    'sent_total',
    'rate(sent_total[5m])',
    'sum by (job) (increase(sent_total[10m]))',
    'max_over_time(sent_total{instance=~"i[1-5]"}[3m])',
    'histogram_quantile(0.9, sum by (job, le) (rate(sent_total[5m])))',
    'sent_total / on (instance) group_left () (sent_total offset 10m) > 1',
    'avg without (instance) (irate(sent_total[2m])) * 60',
    'label_replace(sent_total{job="j1"}, "copy", "$1", "instance", "i(.*)")',
  ])('%s is answered the same', async (query) => {
    const form = { query, start: String(startMs / 1_000), end: String(endMs / 1_000), step: '47' };
    const [own, other] = [await bench.prom('query_range', form, 'POST'), (await peer.ask('query_range', form)).data];
    expect(own.resultType).toBe(other.resultType);
    const sorted = (result: { metric: object; values: [number, string][] }[]) =>
      result
        .map(({ metric, values }) => [JSON.stringify(Object.entries(metric).sort()), values] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    const [mine, theirs] = [sorted(own.result), sorted(other.result)];
    expect(mine.map(([metric]) => metric)).toEqual(theirs.map(([metric]) => metric));
    for (const [i, [, values]] of mine.entries()) {
      const others = theirs[i]?.[1] ?? [];
      expect(values.map(([at]) => at)).toEqual(others.map(([at]) => at));
      for (const [j, [, value]] of values.entries()) {
        if (value === others[j]?.[1]) continue;
        const theirs = Number(others[j]?.[1]);
        expect(
          Number.isNaN(theirs) ? value : Math.abs(Number(value) - theirs) <= 1e-12 * Math.abs(theirs),
          `${value} ${theirs}`,
        ).toBe(Number.isNaN(theirs) ? 'NaN' : true);
      }
    }
  });

  test('labels, values and series are the same', async () => {
    const form = { 'match[]': 'sent_total', start: String(startMs / 1_000), end: String(endMs / 1_000) };
    for (const path of ['labels', 'label/instance/values', 'label/job/values']) {
      expect(await bench.prom(path, form), path).toEqual((await peer.ask(`${path}`, form, 'GET')).data);
    }
    const byInstance = (list: { instance: string }[]) => list.toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
    expect(byInstance(await bench.prom('series', form))).toEqual(byInstance((await peer.ask('series', form)).data));
  });

  test('what Prometheus scrapes arrives with its metadata', async () => {
    await expect
      .poll(async () => (await bench.prom('query', { query: 'up{job="self"}' })).result[0]?.value[1], {
        timeout: 50_000,
      })
      .toBe('1');
    await expect
      .poll(
        async () =>
          (await bench.prom('metadata', { metric: 'prometheus_http_requests_total' }))
            .prometheus_http_requests_total?.[0]?.type,
        { timeout: 50_000 },
      )
      .toBe('counter');
    expect(await bench.prom('label/__name__/values')).toContain('prometheus_build_info');
  });
});
