// What README promises about running is so, and what the pages of prices and addresses say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { usdText } from '../src/lib/money.ts';
import { priceBookOf } from '../src/manifest/compose.ts';
import { modules } from '../src/modules/index.ts';

const root = join(import.meta.dirname, '..');
const readText = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = readText('README.md');
const pricePage = readText('docs/prices.md');
const addressPage = readText('docs/addresses.md');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

it.each(['npm ci && npm start', 'npm ci && npm test'])('README shows %s', (line) => {
  expect(readme.split('\n')).toContain(line);
  expect(scripts[line.split(' ').at(-1) as string]).toBeDefined();
});

it('README tells in its first screen what it is, for whom, why a wallet, and links prices and addresses', () => {
  const [first = ''] = readme.split('\n## First call\n');
  for (const wanted of ['self-hosted', '**For whom.**', '**Why one wallet.**', '<picture>', 'npm ci && npm start'])
    expect(first).toContain(wanted);
  expect(first.split('\n').length).toBeLessThan(32);
  expect(readme.split(/\s+/).length).toBeLessThan(1_100);
  for (const page of ['docs/prices.md', 'docs/addresses.md']) expect(readme).toContain(`](${page})`);
});

it.each(Object.entries(priceBookOf(modules).prices))('docs/prices.md has the price of %s', (entry, price) => {
  const row = pricePage.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${entry}\``));
  const least = price.minimumNanos === undefined ? '' : `, at least ${usdText(price.minimumNanos)} USD a call`;
  const article = /^[aeiou]/.test(price.unit) ? 'an' : 'a';
  expect(row).toContain(`| ${usdText(price.nanosPerUnit)} USD ${article} ${price.unit}${least} |`);
});

const clients = modules.flatMap((module) => module.clients ?? []);

it.each(clients)('docs/addresses.md says where to point $client: $use', ({ client, address, use }) => {
  const row = addressPage.split('\n').find((line) => line.startsWith('|') && line.includes(`| ${client} |`)) ?? '';
  const path = address.replace(/^\{base_url\}|^https:\/\/KEY@HOST/, '');
  expect(row.split('|')[1]).toContain(`127.0.0.1:8787${path}\``);
  expect(row).toContain(use);
});
