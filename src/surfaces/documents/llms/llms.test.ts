// The documents for language models have room in their heads, say how much they take, and name what there is.
import { describe, expect, test } from 'vitest';
import { manifest } from '../../../../test/support/capabilities.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { partsOf } from '../../../manifest/parts.ts';
import { plannedModules } from '../../../manifest/planned/modules.ts';
import { publicDocuments } from '../documents.ts';
import { fieldsOf } from '../fields.ts';
import { guides } from '../guides/guides.ts';
import { renderLlms } from './llms.ts';

const baseUrl = 'http://127.0.0.1:8787';
const tokens = (text: string) => Buffer.byteLength(text) / 4;
const said = (text: string) => Number(/([\d,]+) tokens/.exec(text)?.[1]?.replaceAll(',', ''));

/** As if every planned module were built, each as large as the largest there is. */
function withAllBuilt(): Manifest {
  const largest = manifest.modules.toSorted((a, b) => b.capabilities.length - a.capabilities.length)[0] ?? manifest;
  const names = [...plannedModules(manifest.modules)];
  const built = names.map((name) => ({
    ...(largest as Manifest['modules'][number]),
    name,
    capabilities: largest.capabilities.map((each) => ({ ...each, id: each.id.replace(/^[a-z]+/, name) })),
  }));
  return { ...manifest, modules: [...manifest.modules, ...built] };
}

describe.each([
  ['as it is', manifest, baseUrl, 1_900],
  ['at a long address', manifest, 'https://infrastructure.agents.example.org/quartermaster', 2_000],
  ['with every module built', withAllBuilt(), 'https://infrastructure.agents.example.org', 2_000],
] as const)('/llms.txt of the service %s', (_name, of, address, tokensMax) => {
  const text = renderLlms(of, { baseUrl: address });

  test(`takes at most ${tokensMax} tokens and says how many`, () => {
    expect(tokens(text)).toBeLessThanOrEqual(tokensMax);
    expect(Math.abs(said(text) - tokens(text))).toBeLessThanOrEqual(2);
  });

  test('has a line for every module', () => {
    const lines = text.split('\n').flatMap((line) => /^- ([a-z]+) \([\d,]+ tokens\): \S/.exec(line)?.[1] ?? []);
    expect(lines).toEqual(of.modules.map(({ name }) => name));
  });
});

test('/llms.txt names the calls of modules and who else may speak to them', () => {
  const text = renderLlms(manifest, { baseUrl });
  expect(text).toMatch(/^- queue .* Calls: .*publish,/m);
  expect(text).toMatch(/^- errors .*Clients: Sentry SDKs/m);
  expect(text).toMatch(/^- discovery .*Calls: discovery, /m);
});

describe.each(manifest.modules.flatMap(partsOf))(
  '/llms/$name.txt',
  ({ name, summary, capabilities, problems = {} }) => {
    const text = publicDocuments(manifest, { baseUrl }).get(`/llms/${name}.txt`)?.render() ?? '';

    test('takes at most 2,500 tokens, with very many calls 3,000, and says how many', () => {
      expect(tokens(text)).toBeLessThanOrEqual(capabilities.length > 40 ? 3_000 : 2_500);
      expect(Math.abs(said(text) - tokens(text))).toBeLessThanOrEqual(2);
    });

    test('has its summary, every call, every error of its own and two worked examples', () => {
      expect(text).toContain(`> ${summary}`);
      for (const { id, method, path } of capabilities) expect(text, id).toContain(`${method} ${path} (`);
      for (const code of Object.keys(problems)) expect(text).toContain(code);
      expect(text.match(/^```http$/gm)).toHaveLength(2);
    });
  },
);

test('/llms/{module}.txt has every field of every call with its whole type, short on room or not', () => {
  const documents = publicDocuments(manifest, { baseUrl });
  for (const { name, capabilities } of manifest.modules.flatMap(partsOf)) {
    const lines = (documents.get(`/llms/${name}.txt`)?.render() ?? '').split('\n');
    for (const capability of capabilities) {
      const line = lines.find((each) => each.includes(`${capability.method} ${capability.path} (`)) ?? '';
      for (const field of fieldsOf(capability)) {
        if (['idempotency_key', 'cursor', 'limit'].includes(field.name)) continue;
        const start = `${field.name}${field.required ? '*' : ''} `;
        const [shown = '', rest = ''] = [`${start}${field.in} ${field.shortType}`, `${start}${field.bareType}`].map(
          (words) => words.replace(/\s+/g, ' '),
        );
        expect(line.includes(shown) || line.includes(rest), `${capability.id}: ${shown} in ${line}`).toBe(true);
      }
    }
  }
});

test('no page in markdown has empty brackets, a link to no page, or another address than that of the service', () => {
  const root = 'https://qm.example';
  const documents = publicDocuments(manifest, { baseUrl: root });
  const ownMachine = guides.filter(({ group }) => group === 'Run it').map(({ name }) => `/docs/guides/${name}.md`);
  for (const [path, document] of documents) {
    if (!/\.md$|^\/llms/.test(path)) continue;
    const text = document.render();
    expect(text, path).not.toContain(' ():');
    if (!ownMachine.includes(path)) expect(text, path).not.toContain('127.0.0.1:8787');
    const links = [
      ...text.matchAll(/\]\(https:\/\/qm\.example([^)#?]*)/g),
      ...text.matchAll(/(?<![\w}])(\/docs\/[\w./-]+\.md)/g),
    ];
    for (const [, to = ''] of links) expect(documents.has(to), `${path}: ${to}`).toBe(true);
    // A guide may name a file of the repository that is no page.
    if (!path.startsWith('/docs/guides/')) expect(text.match(/(?<![\w/])docs\/[\w-]+\.md/g) ?? [], path).toEqual([]);
  }
});

// A queue with dead letters, a schedule, a search, a chat, a video, a narrow key, a budget and a webhook.
test('what is to be read for the work of a day takes at most 8,000 tokens', () => {
  const documents = publicDocuments(manifest, { baseUrl });
  const ids = ['queue.create', 'queue.publish', 'cron.create', 'vector.query', 'ai.chat', 'video.generate'];
  const ofAccount = ['account.keys.create', 'account.budget.set', 'account.webhooks.register'];
  const paths = ['/llms.txt', ...[...ids, ...ofAccount].map((id) => `/docs/capabilities/${id}.md`)];
  const texts = paths.map((path) => documents.get(path)?.render() ?? '');
  for (const text of texts) expect(tokens(text)).toBeGreaterThan(400);
  expect(tokens(texts.join(''))).toBeLessThanOrEqual(8_000);
});

test('/llms-full.txt has all of them and says its size', () => {
  const documents = publicDocuments(manifest, { baseUrl });
  const text = documents.get('/llms-full.txt')?.render() ?? '';
  expect(Math.abs(said(text) - tokens(text))).toBeLessThanOrEqual(2);
  for (const path of ['/llms.txt', ...manifest.modules.map(({ name }) => `/llms/${name}.txt`)])
    expect(text).toContain(documents.get(path)?.render());
});

test('an answer names what is shown once first, then ids, and of a list the fields of its items', () => {
  const documents = publicDocuments(manifest, { baseUrl });
  const lineOf = (module: string, path: string) =>
    (documents.get(`/llms/${module}.txt`)?.render() ?? '').split('\n').find((line) => line.includes(` ${path} (`));
  expect(lineOf('account', '/v1/account/keys/create')).toMatch(/ → key_secret, key_id$/);
  expect(lineOf('queue', '/v1/queue/consume')).toMatch(/ → items\[\] \{receipt_handle, message_id, /);
  expect(lineOf('cron', '/v1/cron/create')).toMatch(/ → secret_last4, secret, job_id, /);
});

test('what destroys is marked', () => {
  const text = publicDocuments(manifest, { baseUrl }).get('/llms/queue.txt')?.render() ?? '';
  expect(text).toMatch(/queue\.purge: POST \S+ \(free; queue:write; key; destructive\)/);
});

test('whoever speaks to raw routes of a module with clients is named with the capabilities of these', () => {
  for (const { clients, rawRoutes = [] } of manifest.modules) {
    if (clients === undefined) continue;
    const served = clients.flatMap(({ serves }) => serves);
    for (const id of served) expect(manifest.byId.has(id), id).toBe(true);
    // A stream of what is new is a way of ours, not of a client.
    const foreign = rawRoutes.filter(({ name }) => !name.endsWith('.tail'));
    for (const { capability, name } of foreign) if (capability !== null) expect(served, name).toContain(capability);
  }
});
