// Every import rule, broken once: a rule that finds nothing any more is noticed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { importFaults } from './check-imports.ts';

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true });
});

/** A project of these files, by their paths. */
function projectOf(texts: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'import-rules-'));
  roots.push(root);
  for (const [path, text] of Object.entries({ 'tsconfig.json': '{}', ...texts })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Rooms on core, and those of core: a file of each imports what stands above all of them. */
const roomsOnCore = ['assets', 'blocks', 'browser', 'files', 'objects', 'pictures', 'rendering', 'routing'];
const roomsOfCore = [
  'accounts',
  'background',
  'callers',
  'events',
  'idempotency',
  'keys',
  'operator',
  'process',
  'requests',
  'secrets',
  'tracing',
  'usage',
  'wallet',
];

/** What each file imports. */
const files: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(roomsOnCore.map((room) => [`src/${room}/a.ts`, ['../upkeep/sweeps.ts']])),
  ...Object.fromEntries(roomsOfCore.map((room) => [`src/core/${room}/a.ts`, ['../core.ts']])),
  'src/core/core.ts': [],
  'src/service/start.ts': ['../vendors/mail/smtp.ts', '../modules/queue/index.ts'],
  'src/serve.ts': ['./service/start.ts'],
  'src/lib/money.ts': ['../db/pool.ts'],
  'src/problems/problem.ts': ['../db/pool.ts'],
  'src/config/config.ts': ['../db/pool.ts'],
  'src/db/pool.ts': ['../core/wallet.ts'],
  'src/core/wallet.ts': ['../config/config.ts', '../vendors/mail/port.ts'],
  'src/people/sign-in.ts': ['../core/wallet.ts', '../payments/topup.ts'],
  'src/payments/topup.ts': ['../webhooks/lines.ts'],
  'src/webhooks/lines.ts': ['../upkeep/sweeps.ts'],
  'src/jobs/end.ts': ['../upkeep/sweeps.ts'],
  'src/upkeep/sweeps.ts': ['../kit/module.ts'],
  'src/approvals/ask.ts': ['../upkeep/sweeps.ts'],
  'src/kit/module.ts': ['../manifest/compose.ts'],
  'src/manifest/compose.ts': ['../gateway/calls.ts'],
  'src/gateway/calls.ts': [],
  'src/vendors/mail/port.ts': [],
  'src/vendors/mail/smtp.ts': ['../../core/wallet.ts'],
  'src/workers/primary.ts': ['../vendors/mail/port.ts', './relay.ts'],
  'src/workers/relay.ts': ['./primary.ts'],
  'src/gateway/invoke.ts': ['../modules/queue/publish.ts', '../vendors/mail/smtp.ts', '../serve.ts'],
  'src/gateway/limits.ts': ['../../scripts/check.ts', './nowhere.ts'],
  'src/modules/queue/index.ts': ['../cron/index.ts', '../../gateway/limits.ts', 'a-tool'],
  'src/modules/queue/publish.ts': [],
  'src/modules/cron/index.ts': [],
  'src/modules/vector/search.ts': ['./engine/embedded/index.ts', './engine/embedded/shelf.ts'],
  'src/modules/vector/engine/embedded/index.ts': ['./shelf.ts'],
  'src/modules/vector/engine/embedded/shelf.ts': [],
  'src/modules/cron/capabilities/list.ts': [],
  'src/modules/cron/store.ts': [],
  'src/modules/cron/console/jobs.ts': ['../../../core/wallet.ts', '../capabilities/list.ts', '../store.ts'],
  'test/cron/one.ts': ['./other.ts', '../../src/modules/queue/publish.ts'],
  'test/cron/other.ts': ['./one.ts'],
  'scripts/check.ts': ['./nowhere.ts'],
  'bench/publish.ts': ['./nowhere.ts'],
};

const expected = [
  ...roomsOnCore.map((room) => `src/${room}/a.ts -> src/upkeep/sweeps.ts: ${room}-imports`),
  ...roomsOfCore.map((room) => `src/core/${room}/a.ts -> src/core/core.ts: core-${room}-imports`),
  'src/lib/money.ts -> src/db/pool.ts: lib-imports',
  'src/problems/problem.ts -> src/db/pool.ts: problems-imports',
  'src/config/config.ts -> src/db/pool.ts: config-imports',
  'src/config/config.ts -> src/db/pool.ts: no-cycles',
  'src/db/pool.ts -> src/core/wallet.ts: db-imports',
  'src/core/wallet.ts -> src/config/config.ts: core-imports',
  'src/people/sign-in.ts -> src/payments/topup.ts: people-imports',
  'src/payments/topup.ts -> src/webhooks/lines.ts: payments-imports',
  'src/webhooks/lines.ts -> src/upkeep/sweeps.ts: webhooks-imports',
  'src/upkeep/sweeps.ts -> src/kit/module.ts: upkeep-imports',
  'src/kit/module.ts -> src/manifest/compose.ts: kit-imports',
  'src/manifest/compose.ts -> src/gateway/calls.ts: manifest-imports',
  'src/vendors/mail/smtp.ts -> src/core/wallet.ts: vendors-imports',
  'src/jobs/end.ts -> src/upkeep/sweeps.ts: jobs-imports',
  'src/approvals/ask.ts -> src/upkeep/sweeps.ts: approvals-imports',
  'src/workers/primary.ts -> src/vendors/mail/port.ts: workers-imports',
  'src/workers/primary.ts -> src/workers/relay.ts: no-cycles',
  'src/gateway/invoke.ts -> src/modules/queue/publish.ts: modules-by-their-index',
  'src/gateway/invoke.ts -> src/modules/queue/publish.ts: no-room-names-a-module',
  'src/gateway/invoke.ts -> src/vendors/mail/smtp.ts: only-the-service-knows-vendors',
  'src/gateway/invoke.ts -> src/serve.ts: nothing-stands-on-the-top',
  'src/gateway/limits.ts -> scripts/check.ts: no-tests-or-tools-in-the-service',
  'src/gateway/limits.ts -> ./nowhere.ts: not-found',
  'src/modules/queue/index.ts -> src/modules/cron/index.ts: modules-never-import-each-other',
  'src/modules/queue/index.ts -> src/gateway/limits.ts: modules-imports',
  'src/modules/queue/index.ts -> node_modules/a-tool/index.js: no-development-packages-in-the-service',
  'src/modules/vector/search.ts -> src/modules/vector/engine/embedded/shelf.ts: engines-by-their-index',
  'src/modules/cron/console/jobs.ts -> src/core/wallet.ts: pages-of-the-console-only-call',
  'src/modules/cron/console/jobs.ts -> src/modules/cron/store.ts: pages-of-the-console-only-call',
  'test/cron/one.ts -> test/cron/other.ts: no-cycles',
  'scripts/check.ts -> ./nowhere.ts: not-found',
  'bench/publish.ts -> ./nowhere.ts: not-found',
];

test('each rule finds what breaks it and nothing else, also in tests, scripts and benchmarks', () => {
  const textOf = (imports: readonly string[]) => imports.map((name) => `import '${name}';\n`).join('');
  const root = projectOf({
    ...Object.fromEntries(Object.entries(files).map(([path, imports]) => [path, textOf(imports)])),
    'package.json': JSON.stringify({ name: 'rules', devDependencies: { 'a-tool': '1.0.0' } }),
    'node_modules/a-tool/package.json': JSON.stringify({ name: 'a-tool', version: '1.0.0', main: 'index.js' }),
    'node_modules/a-tool/index.js': '',
  });
  expect(importFaults(root).toSorted()).toEqual(expected.toSorted());
  const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs').forbidden as { readonly name: string }[];
  expect(new Set(expected.map((fault) => fault.split(': ')[1]))).toEqual(new Set(rules.map(({ name }) => name)));
});

test('a run that reads no imports is no success', () => {
  expect(importFaults(projectOf({ 'src/alone.ts': 'export {};' }))).toEqual([
    'only 1 of 1 modules and 0 imports were read',
  ]);
});
