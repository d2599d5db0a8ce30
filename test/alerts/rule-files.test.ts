// Rule files of Prometheus: what is taken of one, what is named, and what comes back.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV, Receiver } from './harness.ts';

const FILE = `
groups:
- name: shop
  interval: 10s
  limit: 5
  rules:
  - alert: HighLatency
    expr: |
      # seconds
      histogram_quantile(0.99, sum by (le, job) (rate(latency_bucket[5m]))) > 0.5
    for: 1m30s
    keep_firing_for: 5m
    labels: { severity: page, team: shop, host: "{{ $labels.host }}" }
    annotations:
      summary: "{{ $labels.job }} is slow: {{ $value | humanizeDuration }}"
      description: |
        First line.
        {{ range query "up" }}{{ end }}
      runbook_url: https://example.org/runbook
      dashboard: https://example.org/board
  - alert: HighLatency
    expr: latency > 1
    labels: { severity: info }
  - record: job:up:sum
    expr: sum by (job) (up)
  - alert: Broken
    expr: sum(
  - alert: Long
    expr: up == 0
    for: 3d
`;
const PROMTOOL = '/usr/bin/promtool';

let service: TestService;
let receiver: Receiver;
let own: Alerts;
beforeAll(async () => {
  service = await startTestService({ env: ENV });
  receiver = await Receiver.start();
  own = await Alerts.at(service);
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

const importFile = (file: string, more: object = {}, by = own) => by.ok('POST', '/v1/alerts/import', { file, ...more });

test('each alert becomes a rule, and what a rule cannot say is named', async () => {
  const done = await importFile(FILE, { notify: [{ url: receiver.url() }] });
  expect(done).toMatchObject({
    imported: 2,
    unchanged: 0,
    rules: [
      { rule: 'shop.HighLatency', group: 'shop', alert: 'HighLatency' },
      { rule: 'shop.HighLatency.info', group: 'shop', alert: 'HighLatency' },
    ],
  });
  const left = done.left_out.map(({ alert, part }: { alert: string; part: string | null }) => [alert, part]);
  expect(left).toEqual([
    ['', 'limit'],
    ['', 'interval'],
    ['HighLatency', 'labels.host'],
    ['HighLatency', 'annotations.dashboard'],
    ['HighLatency', 'annotations.description'],
    ['HighLatency', 'annotations.description'],
    ['job:up:sum', null],
    ['Long', null],
    ['Broken', null],
  ]);
  expect(await own.get('shop.HighLatency')).toMatchObject({
    when: { metrics: { query: expect.stringContaining('histogram_quantile(0.99') } },
    for_seconds: 90,
    keep_firing_seconds: 300,
    every_seconds: 30,
    severity: 'critical',
    labels: { team: 'shop' },
    title: '{{ $labels.job }} is slow: {{ $value | humanizeDuration }}',
    details: 'First line.\n{{ range query "up" }}{{ end }}',
    runbook_url: 'https://example.org/runbook',
    notify: [{ url: receiver.url() }],
    version: 1,
  });
});

test('the same file again changes nothing; without notify, rules keep theirs', async () => {
  expect(await importFile(FILE)).toMatchObject({ imported: 0, unchanged: 2 });
  expect(await importFile(FILE, { notify: [{ url: receiver.url() }] })).toMatchObject({ imported: 0, unchanged: 2 });
  expect(await importFile(FILE.replace('> 1', '> 2'))).toMatchObject({ imported: 1, unchanged: 1 });
  expect(await own.get('shop.HighLatency.info')).toMatchObject({ notify: [{ url: receiver.url() }], version: 2 });
});

test("an export is a rule file that promtool takes, and its import is the account's rules", async () => {
  await own.set({
    rule: 'by-labels',
    when: { metrics: { query: 'errors_total # all' } },
    above: 5,
    by: ['job'],
    title: 'Errors "quoted": {{ $value }}\\',
    labels: { team: 'a: b' },
  });
  await own.set({ rule: 'of-logs', when: { logs: { level: 'error' } } });
  const { file, exported, left_out: left } = await own.ok('GET', '/v1/alerts/export');
  expect([exported, left]).toEqual([3, ['of-logs']]);
  if (existsSync(PROMTOOL)) {
    const folder = mkdtempSync(join(tmpdir(), 'qm-rules-'));
    writeFileSync(join(folder, 'rules.yml'), file);
    const words = execFileSync(PROMTOOL, ['check', 'rules', join(folder, 'rules.yml')], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(words).toContain('3 rules found');
  }
  const other = await Alerts.at(service);
  const told = await importFile(file, {}, other);
  expect(told.imported).toBe(3);
  // Actions of templates stay as they are, and are named again.
  expect(new Set(told.left_out.map(({ part }: { part: string }) => part))).toEqual(
    new Set(['annotations.description']),
  );
  expect(await other.get('by-labels')).toMatchObject({
    when: { metrics: { query: '(\nmax by (job) (\nerrors_total # all\n)\n) > 5' } },
    title: 'Errors "quoted": {{ $value }}\\',
    labels: { team: 'a: b' },
  });
  const again = await other.ok('GET', '/v1/alerts/export');
  expect(await importFile(again.file, {}, other)).toMatchObject({ imported: 0, unchanged: 3 });
});

test('a file of many rules is read in a thread and set at once, or not at all', async () => {
  const rules = Array.from({ length: 60 }, (_, i) => ({ alert: `A${i}`, expr: `up == ${i}` }));
  const file = JSON.stringify({ kind: 'PrometheusRule', spec: { groups: [{ name: 'many', rules }] } });
  const other = await Alerts.at(service);
  expect(await other.fails('POST', '/v1/alerts/import', { file })).toEqual(['QUOTA_EXCEEDED', undefined, undefined]);
  expect((await other.ok('GET', '/v1/alerts/rule/list')).items).toEqual([]);
  const some = JSON.stringify({ groups: [{ name: 'many', rules: rules.slice(0, 50) }] });
  expect(await importFile(some, {}, other)).toMatchObject({ imported: 50 });
});

describe('hostile files', () => {
  const bomb = `a: &a [x, x]\nb: &b [*a, *a]\ngroups: [*b]\n`;
  test.each([
    ['no YAML', 'groups: [', 'format'],
    ['a bomb of aliases', bomb, 'format'],
    ['brackets that go deep', '['.repeat(60_000), 'format'],
    ['no groups', 'rules: []', 'format'],
    ['groups that are a text', 'groups: all', 'format'],
    ['nothing to import', 'groups: [{ name: a, rules: [{ record: b, expr: c }] }]', 'empty'],
    ['an expression of 64 KB', `groups: [{ name: a, rules: [{ alert: b, expr: "${'('.repeat(64_000)}" }] }]`, 'empty'],
    ['more rules than are read', `groups: [{ name: a, rules: [${'{},'.repeat(1_001)}] }]`, 'too_long'],
  ])('%s', async (_name, file, detail) => {
    expect(await own.fails('POST', '/v1/alerts/import', { file })).toEqual(['VALIDATION_FAILED', 'file', detail]);
  });

  test('names and labels that would be others cannot be', async () => {
    const file = `groups: [{ name: "../x y", rules: [{ alert: "__proto__", expr: up, labels: { "__proto__": a, constructor: b } }] }]`;
    const { rules } = await importFile(file);
    expect(rules).toMatchObject([{ rule: 'x-y.__proto__' }]);
    expect((await own.get('x-y.__proto__')).labels).toMatchObject({ constructor: 'b' });
  });
});
