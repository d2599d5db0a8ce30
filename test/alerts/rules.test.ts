// Rules as their owner sets them: what is taken, what is refused, and what answers show.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPerson } from '../../src/people/persons.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV, Receiver } from './harness.ts';

let service: TestService;
let receiver: Receiver;
let own: Alerts;
const everyRule = { name: 'test_every_rule', text: 'SELECT r::text AS row FROM alerts.rule r' };
const logs = { when: { logs: { level: 'error' } } };

beforeAll(async () => {
  service = await startTestService({ env: ENV });
  receiver = await Receiver.start();
  own = await Alerts.at(service);
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

describe('a rule', () => {
  test('is set, shown, listed and deleted', async () => {
    const fields = {
      rule: 'shop.errors',
      title: 'Errors',
      when: { logs: { q: 'card', level: 'error', service: 'shop', attributes: { region: 'eu' }, window_seconds: 600 } },
      above: 3,
      for_seconds: 120,
      every_seconds: 30,
      by: ['service'],
      severity: 'critical',
      labels: { team: 'shop' },
      runbook_url: 'https://example.org/runbook',
      notify: [{ url: receiver.url() }, { queue: 'later' }],
      repeat_seconds: 3_600,
    };
    const set = await own.set(fields);
    expect(set).toMatchObject({ ...fields, below: null, state: 'ok', version: 1, series: [], more_series: 0 });
    expect(await own.get('shop.errors')).toMatchObject(fields);
    expect((await own.ok('GET', '/v1/alerts/rule/list')).items).toMatchObject([{ rule: 'shop.errors' }]);
    expect(await own.set({ ...fields, above: 4 })).toMatchObject({ version: 2, above: 4 });
    expect(await own.ok('DELETE', '/v1/alerts/rule/delete/shop.errors')).toEqual({
      rule: 'shop.errors',
      deleted: true,
    });
    expect(await own.fails('DELETE', '/v1/alerts/rule/delete/shop.errors')).toEqual([
      'RULE_NOT_FOUND',
      'rule',
      undefined,
    ]);
    expect(await own.fails('GET', '/v1/alerts/history/shop.errors')).toEqual(['RULE_NOT_FOUND', 'rule', undefined]);
  });

  test('is told of a queue that is not there', async () => {
    const { body } = await own.call('PUT', '/v1/alerts/rule/set', {
      rule: 'warned',
      ...logs,
      notify: [{ queue: 'none' }],
    });
    expect(body.metadata.warnings.join()).toContain('there is no queue none yet');
  });

  const refused: [string, Record<string, unknown>, (string | undefined)[]][] = [
    ['nothing to look at', {}, ['VALIDATION_FAILED', 'when', 'required']],
    ['two things to look at', { when: { logs: {}, spend: {} } }, ['VALIDATION_FAILED', 'when', 'maxProperties']],
    ['both bounds', { ...logs, above: 1, below: 0 }, ['VALIDATION_FAILED', 'below', 'one_of']],
    ['no PromQL', { when: { metrics: { query: 'sum(' } } }, ['VALIDATION_FAILED', 'when.metrics.query', 'pattern']],
    ['a range', { when: { metrics: { query: 'up[5m]' } } }, ['VALIDATION_FAILED', 'when.metrics.query', 'type']],
    [
      'an expression of 64 KB',
      { when: { metrics: { query: `up${'+up'.repeat(20_000)}` } } },
      ['VALIDATION_FAILED', 'when.metrics.query', 'maxLength'],
    ],
    [
      'an expression of 8,000 parts',
      { when: { metrics: { query: `1${'+1'.repeat(3_999)}` } } },
      ['VALIDATION_FAILED', 'when.metrics.query', 'maxItems'],
    ],
    [
      'a queue that is not there',
      { when: { queue: { queue: 'none', measure: 'depth' } } },
      ['QUEUE_NOT_FOUND', 'when.queue.queue', undefined],
    ],
    [
      'a webhook that is not there',
      { when: { webhook: { webhook_id: 'wh_1' } } },
      ['WEBHOOK_NOT_FOUND', 'when.webhook.webhook_id', undefined],
    ],
    [
      'a schedule that is not there',
      { when: { cron: { job_id: 'cron_1' } } },
      ['JOB_NOT_FOUND', 'when.cron.job_id', undefined],
    ],
    ['a label that the source has not', { ...logs, by: ['pod'] }, ['VALIDATION_FAILED', 'by[0]', 'enum']],
    ['an hour and a second', { ...logs, every_seconds: 3_601 }, ['VALIDATION_FAILED', 'every_seconds', 'maximum']],
    ['a label that is none', { ...logs, labels: { 'a b': 'c' } }, ['VALIDATION_FAILED', 'labels.a?b', 'pattern']],
    [
      'a private address',
      { ...logs, notify: [{ url: 'https://10.0.0.1/x' }] },
      ['WEBHOOK_URL_REJECTED', 'notify[0].url', 'address'],
    ],
    [
      'a private address of Slack',
      { ...logs, notify: [{ slack_url: 'https://[fd00::1]/x' }] },
      ['WEBHOOK_URL_REJECTED', 'notify[0].slack_url', 'address'],
    ],
    [
      'two in one',
      { ...logs, notify: [{ url: 'https://example.org', queue: 'a' }] },
      ['VALIDATION_FAILED', 'notify[0]', 'maxProperties'],
    ],
    [
      "a stranger's address",
      { ...logs, notify: [{ email: 'stranger@example.org' }] },
      ['VALIDATION_FAILED', 'notify[0].email', 'not_confirmed'],
    ],
    [
      'six receivers',
      { ...logs, notify: Array.from({ length: 6 }, () => ({ queue: 'jobs' })) },
      ['VALIDATION_FAILED', 'notify', 'maxItems'],
    ],
  ];
  test.each(refused)('is refused with %s', async (_name, fields, wanted) => {
    expect(await own.refused(fields)).toEqual(wanted);
  });

  test('mails whoever has confirmed the address for the account', async () => {
    const { accountId } = own.account;
    const email = 'on-call@example.org';
    const nowMs = await own.nowMs();
    await service.core.db.transaction((tx) =>
      createPerson(tx, { accountId, email, name: null, role: 'viewer' }, nowMs),
    );
    expect(await own.set({ rule: 'mails', ...logs, notify: [{ email: 'On-Call@example.org' }] })).toMatchObject({
      notify: [{ email }],
    });
  });

  test('keeps the secret address of Slack, and shows it masked', async () => {
    const slackUrl = receiver.url('/services/T000/B000/secretsecretWXYZ');
    const set = await own.set({ rule: 'slack', ...logs, notify: [{ slack_url: slackUrl }] });
    const masked = `${new URL(slackUrl).origin}/****WXYZ`;
    expect(set.notify).toEqual([{ slack_url: masked }]);
    expect(JSON.stringify(await own.ok('GET', '/v1/alerts/rule/list'))).not.toContain('secretsecret');
    const { rows } = await service.core.db.query<{ row: string }>(everyRule, []);
    expect(rows.map(({ row }) => row).join()).not.toContain('secretsecret');
    // Sent back as it was shown, it stays.
    const again = await own.set({ rule: 'slack', ...logs, above: 7, notify: [{ slack_url: masked }] });
    expect(again).toMatchObject({ above: 7, notify: [{ slack_url: masked }] });
  });
});

describe('rights', () => {
  const keyWith = async (scopes: readonly string[]) => {
    const { secret } = await own.ok('POST', '/v1/account/keys/create', { name: 'k', scopes });
    return new Alerts(service, own.account, secret);
  };

  test('a key sets rules of what it may read alone', async () => {
    const key = await keyWith(['alerts', 'logs:read']);
    expect(await key.set({ rule: 'narrow', ...logs })).toMatchObject({ rule: 'narrow' });
    expect(await key.refused({ when: { spend: {} } })).toEqual(['INSUFFICIENT_SCOPE', 'when.spend', undefined]);
    expect(await key.fails('POST', '/v1/alerts/rule/try', { when: { spend: {} } })).toEqual([
      'INSUFFICIENT_SCOPE',
      'when.spend',
      undefined,
    ]);
  });

  test('a key has nothing published that it may not publish', async () => {
    const key = await keyWith(['alerts', 'logs:read']);
    expect(await key.refused({ ...logs, notify: [{ queue: 'jobs' }] })).toEqual([
      'INSUFFICIENT_SCOPE',
      'notify[0].queue',
      undefined,
    ]);
  });
});

test('the fifty-first rule of an account of the tier standard is refused', async () => {
  const full = await Alerts.at(service);
  for (let n = 0; n < 50; n += 1) await full.set({ rule: `r${n}`, ...logs, every_seconds: 3_600 });
  expect((await full.refused({ rule: 'one-more', ...logs }))[0]).toBe('QUOTA_EXCEEDED');
  expect(await full.set({ rule: 'r7', ...logs, every_seconds: 3_600, above: 2 })).toMatchObject({ version: 2 });
});
