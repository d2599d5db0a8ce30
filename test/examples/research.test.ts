// The example as its README runs it: a question, an engine that knows four pages, and an answer from the two that say something of it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';
import { type EngineDouble, startSearxng } from '../web/search-doubles.ts';

const page = (title: string, ...said: readonly string[]) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${said
    .map((text) => `<p>${text}</p>`)
    .join('\n')}</main></body></html>`;

const folder = mkdtempSync(join(tmpdir(), 'quartermaster-research-'));
let site: Site;
let engine: EngineDouble;
let service: TestService;
beforeAll(async () => {
  engine = await startSearxng();
  site = await startSite({
    '/moon': page('The Moon', 'The Moon orbits the Earth once in 27.3 days, which is its sidereal month.'),
    '/tides': page('Tides', 'Tides follow the orbit of the Moon around the Earth, twice in a day.'),
    '/bread': page('Bread', 'Knead flour with water and salt, and bake it until its crust is brown.'),
  });
  const file = join(folder, 'vendors.yaml');
  writeFileSync(file, stringify({ version: 1, vendors: [{ id: 'own', adapter: 'searxng', base_url: engine.url }] }));
  service = await startTestService({ env: { VENDORS_FILE: file } });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([site?.stop(), engine?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test('a question is answered from pages of the web, whose addresses are told', async () => {
  const results = ['/bread', '/moon', '/gone', '/tides'].map((path) => ({
    url: `${site.url}${path}`,
    title: path,
    content: '',
  }));
  engine.script.push({ status: 200, json: { results } });
  const question = 'In how many days does the Moon orbit the Earth?';
  const { secret } = await createTestAccount(service.core, 1);
  const env = { PATH: process.env.PATH ?? '', QM_URL: service.url, QM_KEY: secret };
  const program = join(PROJECT, 'examples/research/research.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, question], { env });
  expect(engine.asked.at(-1)?.searchParams.get('q')).toBe(question);
  expect(stdout).toContain(question);
  // The nearest passage comes first.
  expect(stdout).toMatch(new RegExp(`\\n-- ${site.url}/moon\\n-- ${site.url}/tides\\n`));
});
