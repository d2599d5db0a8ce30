// What the guides say of prices and limits is what the modules say, and each guide answers what a reader asks first.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { type Tier, tierLimits } from '../src/core/callers/tiers.ts';
import { usdText } from '../src/lib/money.ts';
import { priceBookOf } from '../src/manifest/compose.ts';
import { KEEP_DAYS as eventDays } from '../src/modules/analytics/limits.ts';
import { KEEP_DAYS as runDays } from '../src/modules/cron/limits.ts';
import { KEEP_DAYS as emailDays } from '../src/modules/email/limits.ts';
import { RETENTION_DAYS } from '../src/modules/errors/limits.ts';
import { modules } from '../src/modules/index.ts';
import { KEEP_DAYS as logDays } from '../src/modules/logs/limits.ts';
import { samplesKind } from '../src/modules/metrics/samples/kind.ts';
import { KEEP_DAYS as riskDays } from '../src/modules/risk/limits.ts';
import { KEEP_DAYS as smsDays } from '../src/modules/sms/limits.ts';
import { guideFile, guideOf, guides } from '../src/surfaces/documents/guides/guides.ts';

const texts = new Map(
  guides.map((guide) => [guide.name, readFileSync(join(import.meta.dirname, '..', guideFile(guide)), 'utf8')]),
);
const textOf = (name: string) => texts.get(name) ?? expect.fail(`there is no guide ${name}`);
const tiers: readonly Tier[] = ['standard', 'pro', 'enterprise'];
const inRow = (of: Readonly<Record<Tier, number>>) => tiers.map((tier) => of[tier].toLocaleString('en-US')).join(' | ');

/** They are manuals of a thing as a whole. */
const manuals = ['console', 'vendors', 'sign-in', 'addresses'];
const answering = guides.filter(
  ({ name, group }) => ['Build', 'Connect', 'Operate'].includes(group) && !manuals.includes(name),
);

test.each(guides)('the guide $name begins with its title', ({ name, title }) => {
  expect(textOf(name).split('\n', 1)).toEqual([`# ${title}`]);
});

test('each page of docs/deploy is a guide, in at most 60 lines', () => {
  const files = globSync('docs/deploy/*.md', { cwd: join(import.meta.dirname, '..') });
  const shown = guides.filter(({ folder }) => folder === 'deploy/');
  expect(shown.map(guideFile).sort()).toEqual(files.sort());
  for (const { name } of shown) expect(textOf(name).trimEnd().split('\n').length, name).toBeLessThanOrEqual(60);
});

describe.each(answering)('the guide $name', ({ name }) => {
  it.each(['First call', 'Three things people get wrong', 'Limits and price', 'How it fails'])('has %s', (heading) => {
    expect(textOf(name)).toMatch(new RegExp(`^## ${heading}`, 'm'));
  });

  it('names three things, and says first what it is for', () => {
    const [, section = ''] = textOf(name).split('## Three things people get wrong\n');
    expect(section.split('\n## ', 1)[0]?.match(/^- \*\*/gm)).toHaveLength(3);
    expect(textOf(name).split('\n## ', 1)[0]?.length).toBeGreaterThan(120);
  });
});

const { prices } = priceBookOf(modules);
const guideNames: Readonly<Record<string, string>> = { cron: 'schedules', account: 'keys' };
const guideOfModule = (module: string) => guideOf(module)?.name ?? guideNames[module] ?? module;

test.each(Object.entries(prices))('the price of %s stands in its guide', (entry, price) => {
  const text = textOf(guideOfModule(entry.split('.')[0] ?? ''));
  expect(text).toContain(`${usdText(price.nanosPerUnit)} USD`);
  if (price.minimumNanos !== undefined) expect(text).toContain(`at least ${usdText(price.minimumNanos)} USD a call`);
});

const limits = modules.flatMap((module) =>
  Object.entries(module.limits ?? {}).map(([name, limit]) => ({ module: module.name, name, limit })),
);

test.each(limits)('the limit $name of $module stands in its guide', ({ module, limit }) => {
  expect(textOf(guideOfModule(module))).toContain(` | ${inRow(limit)} |`);
});

test('the limits of each tier stand in the guides of keys, limits and webhooks', () => {
  const by = (of: keyof (typeof tierLimits)['pro']) =>
    inRow({ standard: tierLimits.standard[of], pro: tierLimits.pro[of], enterprise: tierLimits.enterprise[of] });
  for (const name of ['keysMax', 'readsPerSecond', 'writesPerMinute', 'inFlightMax'] as const)
    for (const guide of ['keys', 'limits']) expect(textOf(guide)).toContain(` | ${by(name)} |`);
  expect(textOf('limits')).toContain(` | ${by('deletesPerSecond')} |`);
  expect(textOf('webhooks')).toContain(`| webhooks | ${by('webhooksMax')} |`);
});

test('how long things are kept stands in the guide of limits as the modules have it', () => {
  for (const row of [
    `| log records | ${logDays.standard} days; 1 to ${logDays.max} by`,
    `| metric samples | ${samplesKind.keepDays.standard} days; 1 to ${samplesKind.keepDays.max} by`,
    `| analytics events | ${eventDays.standard} days;`,
    `| error events | ${RETENTION_DAYS} days;`,
  ])
    expect(textOf('limits')).toContain(row);
  expect(new Set([emailDays, smsDays, runDays, riskDays])).toEqual(new Set([30]));
  expect(textOf('limits')).toContain('| mail, text messages, schedule runs, risk decisions | 30 days |');
});

test.each([
  ['queue.dlq.redrive', 'queues'],
  ['account.webhooks.test', 'webhooks'],
  ['account.topup.get', 'payments'],
  ['account.keys.create', 'keys'],
  ['ai.chat', 'ai'],
  ['discovery', undefined],
])('%s is in the guide %s', (id, name) => {
  expect(guideOf(id)?.name).toBe(name);
});
