// The requests of Grafana's Prometheus source, as its backend sends them (grafana/pkg/promlib: health check, build information, instant and range queries,
// and resources by POST, which it repeats by GET after a 400 or 405): paths, forms and headers, by POST and by its setting for GET.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MetricsBench } from './harness.ts';

let bench: MetricsBench;
const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
const seconds = (ms: number) => String(ms / 1_000);
const [start, end] = [seconds(nowMs - 600_000), seconds(nowMs)];

beforeAll(async () => {
  bench = await MetricsBench.start();
  const series = ['eu', 'us'].map((zone, n) => ({
    labels: { __name__: 'jobs_done_total', job: 'worker', zone },
    samples: Array.from({ length: 11 }, (_, i) => [nowMs - (10 - i) * 60_000, i * 60 * (n + 1)] as const),
  }));
  expect((await bench.write(series)).status).toBe(204);
  await bench.ingest([{ name: 'room_temp', type: 'gauge', value: 21.5, timestamp: new Date(nowMs).toISOString() }]);
  const rule = { rule: 'hot', title: 'It is hot', when: { metrics: { query: 'room_temp' } }, above: 20 };
  await bench.ok('PUT', '/v1/alerts/rule/set', { ...rule, severity: 'critical', labels: { team: 'house' } });
  await bench.ok('PUT', '/v1/alerts/rule/set', { rule: 'logs', when: { logs: {} }, above: 20 });
  const looked = async () => (await bench.ok('GET', '/v1/alerts/rule/get/hot')).state;
  await vi.waitFor(async () => expect(await looked()).toBe('firing'), { timeout: 30_000, interval: 25 });
});
afterAll(() => bench.end());

interface Sent {
  readonly path: string;
  readonly form?: readonly (readonly [string, string])[];
  /** Its resources of one value, which it never posts. */
  readonly isGet?: true;
}

async function send({ path, form = [], isGet }: Sent, method: 'GET' | 'POST') {
  const sent = isGet === true ? 'GET' : method;
  const encoded = new URLSearchParams(form.map(([name, value]) => [name, value])).toString();
  const url = `${bench.prometheus}/${path}${sent === 'GET' && encoded !== '' ? `?${encoded}` : ''}`;
  const reply = await fetch(url, {
    method: sent,
    headers: {
      // Basic authentication of the source's settings; the rest is what a panel adds.
      authorization: `Basic ${Buffer.from(`grafana:${bench.account.secret}`).toString('base64')}`,
      'user-agent': 'Grafana/12.1.0',
      'accept-encoding': 'gzip',
      'x-dashboard-uid': 'adh4k2',
      'x-datasource-uid': 'P1809F7CD0C75ACF3',
      'x-grafana-org-id': '1',
      'x-panel-id': '2',
      'x-query-group-id': '6f1f0c3c',
      'x-grafana-from-expr': 'true',
      fromalert: 'true',
      ...(sent === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
    ...(sent === 'POST' ? { body: encoded } : {}),
  });
  expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/);
  return { status: reply.status, body: await reply.json() };
}

const worker = (zone: string) => ({ __name__: 'jobs_done_total', job: 'worker', zone });
const data = (of: unknown) => ({ status: 'success', data: of });
const range: [string, string][] = [
  ['start', start],
  ['end', end],
];

const alert = {
  labels: { alertname: 'hot', severity: 'critical', team: 'house' },
  annotations: { summary: 'It is hot' },
  state: 'firing',
  activeAt: expect.stringMatching(/Z$/),
  value: '2.15e+01',
};

const requests: readonly (readonly [string, Sent, unknown])[] = [
  [
    'health check',
    {
      path: 'api/v1/query',
      form: [
        ['query', '1+1'],
        ['time', '4'],
      ],
    },
    data({ resultType: 'scalar', result: [4, '2'] }),
  ],
  [
    'which Prometheus it is: none with features, which would be Mimir',
    { path: 'api/v1/status/buildinfo', isGet: true },
    data(expect.not.objectContaining({ features: expect.anything() })),
  ],
  [
    'a panel',
    {
      path: 'api/v1/query_range',
      form: [['query', 'sum by (zone) (rate(jobs_done_total{job="worker"}[5m0s]))'], ...range, ['step', '300']],
    },
    data({
      resultType: 'matrix',
      result: [
        {
          metric: { zone: 'eu' },
          values: [
            [nowMs / 1_000 - 300, '1'],
            [nowMs / 1_000, '1'],
          ],
        },
        {
          metric: { zone: 'us' },
          values: [
            [nowMs / 1_000 - 300, '2'],
            [nowMs / 1_000, '2'],
          ],
        },
      ],
    }),
  ],
  [
    'a panel with a timeout, and parts of seconds',
    {
      path: 'api/v1/query_range',
      form: [
        ['query', 'room_temp'],
        ['start', end],
        ['end', `${end}.25`],
        ['step', '0.25'],
        ['timeout', '30s'],
      ],
    },
    data({
      resultType: 'matrix',
      result: [
        {
          metric: { __name__: 'room_temp' },
          values: [
            [Number(end), '21.5'],
            [Number(end) + 0.25, '21.5'],
          ],
        },
      ],
    }),
  ],
  [
    'a table or an alert',
    {
      path: 'api/v1/query',
      form: [
        ['query', 'jobs_done_total{zone="us"} > 1000'],
        ['time', end],
      ],
    },
    data({ resultType: 'vector', result: [{ metric: worker('us'), value: [Number(end), '1200'] }] }),
  ],
  ['exemplars', { path: 'api/v1/query_exemplars', form: [['query', 'jobs_done_total'], ...range] }, data([])],
  [
    'names of metrics for the editor',
    { path: 'api/v1/label/__name__/values', form: [...range, ['limit', '40000']], isGet: true },
    data(['jobs_done_total', 'room_temp']),
  ],
  [
    'label_values(metric, label) of a variable',
    { path: 'api/v1/label/zone/values', form: [...range, ['match[]', 'jobs_done_total{job="worker"}']], isGet: true },
    data(['eu', 'us']),
  ],
  ['label names', { path: 'api/v1/labels', form: [...range, ['limit', '40000']] }, data(['__name__', 'job', 'zone'])],
  [
    'label names of a metric',
    { path: 'api/v1/labels', form: [...range, ['match[]', '{__name__="room_temp"}']] },
    data(['__name__']),
  ],
  [
    'series of a metric',
    { path: 'api/v1/series', form: [['match[]', '{__name__="jobs_done_total"}'], ...range, ['limit', '40000']] },
    data([worker('eu'), worker('us')]),
  ],
  [
    'what metrics are',
    { path: 'api/v1/metadata', form: [['limit', '40000']], isGet: true },
    data(expect.objectContaining({ room_temp: [{ type: 'gauge', help: '', unit: '' }] })),
  ],
  [
    'rules: those of alerts that watch metrics',
    { path: 'api/v1/rules', isGet: true },
    data({
      groups: [
        {
          name: 'every 60s',
          file: 'alerts',
          interval: 60,
          limit: 0,
          rules: [
            {
              state: 'firing',
              name: 'hot',
              query: '(room_temp\n) > 20',
              duration: 0,
              labels: { severity: 'critical', team: 'house' },
              annotations: { summary: 'It is hot' },
              alerts: [alert],
              health: 'ok',
              evaluationTime: expect.any(Number),
              lastEvaluation: expect.stringMatching(/Z$/),
              type: 'alerting',
            },
          ],
        },
      ],
    }),
  ],
  ['rules that record', { path: 'api/v1/rules', form: [['type', 'record']], isGet: true }, data({ groups: [] })],
  ['alerts', { path: 'api/v1/alerts', isGet: true }, data({ alerts: [alert] })],
  ['targets', { path: 'api/v1/targets', isGet: true }, data({ activeTargets: [], droppedTargets: [] })],
  [
    'what runs',
    { path: 'api/v1/status/runtimeinfo', isGet: true },
    data(expect.objectContaining({ reloadConfigSuccess: true, storageRetention: '15d' })),
  ],
  [
    'flags',
    { path: 'api/v1/status/flags', isGet: true },
    data(expect.objectContaining({ 'query.lookback-delta': '5m', 'storage.tsdb.retention.time': '15d' })),
  ],
];

describe.each(['POST', 'GET'] as const)('by %s', (method) => {
  test('a list of series without a matcher is refused', async () => {
    const { status, body } = await send({ path: 'api/v1/series', form: range }, method);
    expect([status, body.errorType, body.error]).toEqual([400, 'bad_data', expect.stringContaining('match[]')]);
  });

  test.each(requests)('%s', async (_, sent, due) => {
    const { status, body } = await send(sent, method);
    expect([status, body]).toEqual([200, due]);
  });

  test.each([
    ['what is no PromQL', 'jobs_done_total{', 'bad_data'],
    ['what is not evaluated', 'limitk(1, jobs_done_total)', 'bad_data'],
  ])('%s is an error that the panel shows', async (_, query, errorType) => {
    const { status, body } = await send(
      {
        path: 'api/v1/query',
        form: [
          ['query', query],
          ['time', end],
        ],
      },
      method,
    );
    expect([status, body]).toEqual([
      400,
      { status: 'error', errorType, error: expect.stringMatching(/character \d+/) },
    ]);
  });
});
