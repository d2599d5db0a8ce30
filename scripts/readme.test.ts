// What README promises about running and about prices is so.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { usdText } from '../src/lib/money.ts';
import { priceBookOf } from '../src/manifest/compose.ts';
import { modules } from '../src/modules/index.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

it.each(['npm ci && npm start', 'npm ci && npm test'])('README shows %s', (line) => {
  expect(readme.split('\n')).toContain(line);
  expect(scripts[line.split(' ').at(-1) as string]).toBeDefined();
});

it.each(Object.entries(priceBookOf(modules).prices))('README has the price of %s', (entry, price) => {
  const row = readme.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${entry}\``));
  const least = price.minimumNanos === undefined ? '' : `, at least ${usdText(price.minimumNanos)} USD a call`;
  const article = /^[aeiou]/.test(price.unit) ? 'an' : 'a';
  expect(row).toContain(`| ${usdText(price.nanosPerUnit)} USD ${article} ${price.unit}${least} |`);
});

const clients = modules.flatMap((module) => module.clients ?? []);

it.each(clients)('README says where to point $client: $use', ({ client, address, use }) => {
  const row = readme.split('\n').find((line) => line.startsWith('|') && line.includes(`| ${client} |`)) ?? '';
  const path = address.replace(/^\{base_url\}|^https:\/\/KEY@HOST/, '');
  expect(row.split('|')[1]).toContain(`127.0.0.1:8787${path}\``);
  expect(row).toContain(use);
});
