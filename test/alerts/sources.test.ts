// What rules may watch: a rule of each source that is ok first and fires then, by labels where it has some.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV } from './harness.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ENV });
});
afterAll(() => service.stop());

type Fields = Readonly<Record<string, unknown>>;
interface Row {
  readonly name: string;
  readonly rule: Fields;
  /** Before it. */
  prepare?(own: Alerts): Promise<unknown>;
  /** Makes it fire. */
  happen(own: Alerts): Promise<unknown>;
  /** What fires then. */
  readonly series: readonly object[];
}

const log = (own: Alerts, items: readonly object[]) => own.ok('POST', '/v1/logs/ingest', { items });
const capture = (own: Alerts, message: string, environment = 'production') =>
  own.ok('POST', '/v1/errors/message', { text: message, level: 'error', environment });

const rows: readonly Row[] = [
  {
    name: 'metrics, by a bound',
    rule: { when: { metrics: { query: 'sum by (job) (lag)' } }, above: 5, by: ['job'] },
    prepare: (own) => own.gauge('lag', [[1, { job: 'a', pod: '1' }]]),
    happen: (own) =>
      own.gauge('lag', [
        [4, { job: 'a', pod: '1' }],
        [4, { job: 'a', pod: '2' }],
        [4, { job: 'b', pod: '3' }],
      ]),
    series: [{ labels: { job: 'a' }, value: 8 }],
  },
  {
    name: 'metrics, by the expression alone',
    rule: { when: { metrics: { query: 'alive == 0' } } },
    prepare: (own) => own.gauge('alive', [[1, { job: 'a' }]]),
    happen: (own) => own.gauge('alive', [[0, { job: 'a' }]]),
    series: [{ labels: { job: 'a' }, value: 0 }],
  },
  {
    name: 'logs',
    rule: { when: { logs: { q: 'declined', level: 'error', attributes: { region: 'eu' } } }, above: 1 },
    prepare: (own) => log(own, [{ level: 'error', message: 'card declined', attributes: { region: 'eu' } }]),
    happen: (own) =>
      log(own, [
        { level: 'error', message: 'card declined', attributes: { region: 'eu' } },
        { level: 'info', message: 'card declined', attributes: { region: 'eu' } },
        { level: 'error', message: 'card declined', attributes: { region: 'us' } },
      ]),
    series: [{ labels: {}, value: 2 }],
  },
  {
    name: 'logs, by service',
    rule: { when: { logs: { level: 'error' } }, above: 1, by: ['service'] },
    happen: (own) =>
      log(own, [
        { level: 'error', service: 'a', message: 'x' },
        { level: 'fatal', service: 'a', message: 'x' },
        { level: 'error', service: 'b', message: 'x' },
      ]),
    series: [{ labels: { service: 'a' }, value: 2 }],
  },
  {
    name: 'new errors',
    rule: { when: { errors: { measure: 'new', environment: 'production' } } },
    happen: async (own) => {
      await capture(own, 'disk full', 'staging');
      await capture(own, 'out of memory');
    },
    series: [{ labels: {}, value: 1 }],
  },
  {
    name: 'events of errors, by environment',
    rule: { when: { errors: { measure: 'count' } }, above: 1, by: ['environment'] },
    happen: async (own) => {
      await capture(own, 'disk full', 'staging');
      await capture(own, 'disk full');
      await capture(own, 'disk full');
    },
    series: [{ labels: { environment: 'production' }, value: 2 }],
  },
  {
    name: 'errors that came back',
    rule: { when: { errors: { measure: 'regressed', window_seconds: 60 } } },
    prepare: (own) => capture(own, 'disk full'),
    happen: async (own) => {
      const [{ error_group_id: id }] = (await own.ok('GET', '/v1/errors/groups')).items;
      await own.ok('POST', `/v1/errors/resolve/${id}`, {});
      await capture(own, 'disk full');
    },
    series: [{ labels: {}, value: 1 }],
  },
  {
    name: 'spending, by capability',
    rule: { when: { spend: { period: 'month' } }, above: 0.0001, by: ['capability'] },
    happen: async (own) => {
      await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
      const items = Array.from({ length: 10 }, (_, n) => ({ payload: { n } }));
      await own.ok('POST', '/v1/queue/batch/publish', { queue: 'jobs', items });
    },
    series: [{ labels: { capability: 'queue.batch.publish' }, value: 0.0002 }],
  },
  {
    name: 'the age of a message',
    rule: { when: { queue: { queue: 'jobs', measure: 'age' } }, above: 30 },
    prepare: (own) => own.ok('POST', '/v1/queue/create', { name: 'jobs' }),
    happen: (own) => own.ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} }),
    series: [{ labels: {} }],
  },
  {
    name: 'a webhook whose deliveries fail',
    rule: { when: { webhook: {} }, by: ['webhook_id'] },
    prepare: (own) =>
      own.ok('POST', '/v1/account/webhooks/register', {
        url: 'http://127.0.0.1:9/x',
        events: ['queue.dlq'],
      }),
    happen: async (own) => {
      const fail = {
        name: 'test_fail_webhook',
        text: 'UPDATE core.webhook SET failing_since = core.clock_now() WHERE account_id = $1',
      };
      await service.core.db.query(fail, [own.account.accountId]);
    },
    series: [{ labels: { webhook_id: expect.stringMatching(/^wh_/) }, value: 1 }],
  },
  {
    name: 'a schedule whose run failed',
    rule: { when: { cron: {} } },
    prepare: (own) => own.ok('POST', '/v1/cron/create', { task: 'http://127.0.0.1:9/x', cron_expr: '0 0 1 1 *' }),
    happen: async (own) => {
      const fail = {
        name: 'test_fail_job',
        text: `UPDATE cron.job SET last_run = '{"status":"failed"}' WHERE account_id = $1`,
      };
      await service.core.db.query(fail, [own.account.accountId]);
    },
    series: [{ labels: {}, value: 1 }],
  },
];

// Metrics and logs take nothing that is ten minutes ahead of the clock of the process.
describe('a rule of', () => {
  test('each source fires when it happens, and not before', { timeout: 120_000 }, async () => {
    const owns = await Promise.all(rows.map(() => Alerts.at(service)));
    for (const [i, { prepare, rule }] of rows.entries()) {
      const own = owns[i] as Alerts;
      await prepare?.(own);
      await own.set(rule);
    }
    await service.advance(60);
    for (const [i, { name }] of rows.entries()) expect([name, (await owns[i]?.looked())?.state]).toEqual([name, 'ok']);
    for (const [i, { happen }] of rows.entries()) await happen(owns[i] as Alerts);
    await service.advance(60);
    for (const [i, { name, series }] of rows.entries()) {
      const found = await owns[i]?.looked();
      const firing = found.series.filter(({ state }: { state: string }) => state === 'firing');
      expect([name, found.words, firing]).toMatchObject([name, null, series]);
    }
  });

  test('each source can be tried on the past', { timeout: 60_000 }, async () => {
    for (const { name, rule, prepare, happen } of rows) {
      const own = await Alerts.at(service);
      await prepare?.(own);
      await happen(own);
      const tried = await own.ok('POST', '/v1/alerts/rule/try', { ...rule, every_seconds: 3_600 });
      expect([name, tried.step_seconds, tried.is_complete]).toEqual([name, 3_600, true]);
      expect(tried.steps).toBeGreaterThan(0);
    }
  });
});

test('a rule tried on the past says when it would have fired', async () => {
  const own = await Alerts.at(service);
  await log(own, [{ level: 'error', message: 'x' }]);
  await service.advance(60);
  const tried = await own.ok('POST', '/v1/alerts/rule/try', {
    when: { logs: { level: 'error', window_seconds: 3_600 } },
    every_seconds: 60,
  });
  expect(tried).toMatchObject({ step_seconds: 300, fired: 1, changes: [{ state_before: 'ok', state: 'firing' }] });
});
