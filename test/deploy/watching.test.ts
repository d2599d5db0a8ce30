// Alerts and the dashboard: promtool accepts them, alerts fire when they should, and every metric that they name is told by the service.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { PROJECT } from '../support/process.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const RULES = join(PROJECT, 'deploy/prometheus/rules.yml');
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-watching-'));
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const rules = parse(readFileSync(RULES, 'utf8')).groups.flatMap(({ rules: all }: { rules: { expr: string }[] }) => all);
const dashboard = JSON.parse(readFileSync(join(PROJECT, 'deploy/grafana/quartermaster.json'), 'utf8'));
const panels: { id: number; title: string; targets: { expr: string }[] }[] = dashboard.panels;
const asked: string[] = [
  ...rules.map(({ expr }: { expr: string }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

let service: TestService;
let told: Set<string>;

beforeAll(async () => {
  // own service: reads its metrics
  service = await startTestService();
  const call = client(service.url, (await createTestAccount(service.core)).secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const text = (await client(service.url)('GET', '/metrics')).text;
  // Those of what has not happened yet are told by nobody: the source names them.
  const source = globSync('src/**/*.ts', { cwd: PROJECT }).map((path) => readFileSync(join(PROJECT, path), 'utf8'));
  const named = source.flatMap((each) => [...each.matchAll(/'(qm_[a-z_]+)'/g)].map(([, name]) => name as string));
  told = new Set([...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name as string).concat(named));
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true });
});

test('every metric that an alert or a panel names is told', () => {
  const names = asked.flatMap((expr) => expr.match(/\b(?:qm|process|nodejs)_[a-z0-9_]+/g) ?? []);
  expect(names.length).toBeGreaterThan(30);
  expect(new Set(names.map((name) => name.replace(/_bucket$/, '')).filter((name) => !told.has(name)))).toEqual(
    new Set(),
  );
});

test('panels have an id and a title of their own', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

test.skipIf(!hasPromtool)("promtool accepts alerts and panels, and alerts fire (Debian's package prometheus)", () => {
  expect(execFileSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })).toContain('SUCCESS');
  const record = asked.map((expr, i) => ({ record: `asked:${i}`, expr: expr.replaceAll('$__rate_interval', '5m') }));
  const all = join(folder, 'all.json');
  writeFileSync(all, JSON.stringify({ groups: [{ name: 'asked', rules: record }] }));
  expect(execFileSync('promtool', ['check', 'rules', all], { encoding: 'utf8' })).toContain('SUCCESS');
  copyFileSync(RULES, join(folder, 'rules.yml'));
  copyFileSync(join(PROJECT, 'test/deploy/rules.test.yml'), join(folder, 'rules.test.yml'));
  expect(execFileSync('promtool', ['test', 'rules', 'rules.test.yml'], { cwd: folder, encoding: 'utf8' })).toContain(
    'SUCCESS',
  );
});
