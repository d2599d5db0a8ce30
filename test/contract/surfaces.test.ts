import { gzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { once } from '../../src/lib/once.ts';
import { partsOf } from '../../src/manifest/parts.ts';
import { streamsOf } from '../../src/manifest/streams.ts';
import { isTriable, tryAddress } from '../../src/surfaces/documents/docs/triable.ts';
import { publicDocuments } from '../../src/surfaces/documents/documents.ts';
import { baseUrl } from './fixture.ts';
import { manifests } from './manifests.ts';

describe.each(manifests)('the manifest %s', (_name, manifest) => {
  const documents = publicDocuments(manifest, { baseUrl });
  const texts = new Map<string, string>();
  const body = (path: string) => {
    const text = texts.get(path) ?? documents.get(path)?.render() ?? '';
    texts.set(path, text);
    return text;
  };
  const llmsOf = ({ id }: { readonly id: string }) => {
    const part = manifest.modules
      .flatMap(partsOf)
      .find(({ capabilities }) => capabilities.some((each) => each.id === id));
    return body(`/llms/${part?.name}.txt`);
  };
  // Each of them is megabytes, and is asked for every capability.
  const openapi = once(() => JSON.parse(body('/v1/openapi.json')));
  const describedById = once(
    () =>
      new Map<string, object>(
        JSON.parse(body('/.well-known/quartermaster.json')).capabilities.map((each: { id: string }) => [each.id, each]),
      ),
  );
  const pages = [...documents].filter(([, document]) => document.contentType.startsWith('text/html'));

  test('the OpenAPI document is valid', async () => {
    expect(await new Validator().validate(JSON.parse(body('/v1/openapi.json')))).toEqual({ valid: true });
  });

  test('every operation of the OpenAPI document is named as its capability, or as the stream that it is', () => {
    const ids = [...body('/v1/openapi.json').matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    const all = [...manifest.capabilities, ...streamsOf(manifest.modules)];
    expect(ids.sort()).toEqual(all.map(({ id }) => id).sort());
  });

  test.each([...manifest.byId.values()])('$id appears on every surface', (capability) => {
    const operation = openapi().paths[capability.path.slice('/v1'.length)][capability.method.toLowerCase()];
    expect(operation['x-svc-capability']).toBe(capability.id);
    expect(describedById().get(capability.id)).toMatchObject({ method: capability.method, path: capability.path });
    expect(llmsOf(capability)).toContain(`${capability.method} ${capability.path} (`);
    expect(body('/docs')).toContain(`href="/docs/capabilities/${capability.id}"`);
    const page = body(`/docs/capabilities/${capability.id}`);
    expect(page).toContain(`<h1>${capability.id}</h1>`);
    expect(page.includes(`href="${tryAddress(capability)}"`)).toBe(isTriable(capability));
  });

  test.each(Object.keys(manifest.problems))('%s has a page', (code) => {
    expect(body(`/docs/errors/${code}`)).toContain(`<h1>${code}</h1>`);
    expect(body('/docs/errors')).toContain(`href="/docs/errors/${code}"`);
  });

  test('every event type is listed', () => {
    for (const { type } of manifest.events) expect(body('/docs/events')).toContain(`<code>${type}</code>`);
  });

  test('every link of every page leads somewhere, and there to a place that is there', () => {
    const links = pages.flatMap(([path, page]) =>
      [...page.render().matchAll(/href="([/#][^"]*)/g)].map(([, link = '']) =>
        link.startsWith('#') ? path + link : link,
      ),
    );
    for (const link of new Set(links)) {
      const [path = '', anchor] = link.replace(/\?v=\w+$/, '').split('#');
      if (/^\/console(?:\/|$)/.test(path)) continue;
      expect(documents.has(path), link).toBe(true);
      if (anchor !== undefined) expect(body(path), link).toContain(` id="${anchor}"`);
    }
  });

  test('every page has a twin in markdown: the same headings and code, links that lead somewhere, and no HTML', () => {
    const unescaped = (text: string) => {
      const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
      return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] as string);
    };
    // Code within a list is indented there.
    const flush = (text: string) => text.replaceAll(/\n +/g, '\n');
    for (const [path] of pages) {
      const markdown = body(`${path}.md`);
      // Of what an agent has no room for, the whole stands in the HTML alone.
      const isShort = path.startsWith('/docs/capabilities/');
      if (isShort) expect(Buffer.byteLength(markdown) / 4, path).toBeLessThanOrEqual(1_000);
      const headings = [...body(path).matchAll(/<h([123])(?: id="[^"]*")?>(.*?)<\/h\1>/g)];
      expect(headings.length, path).toBeGreaterThan(0);
      for (const [, level, text = ''] of headings) {
        if (isShort && level === '3') continue;
        const escaped = unescaped(text).replaceAll('<', '\\<');
        expect(markdown, path).toContain(`${'#'.repeat(Number(level))} ${escaped}\n`);
      }
      for (const [, block = ''] of isShort
        ? []
        : body(path).matchAll(/<pre tabindex="0" aria-label="[^"]*"><code>([\s\S]*?)<\/code><\/pre>/g))
        expect(flush(markdown), path).toContain(flush(`\n${unescaped(block)}\n\`\`\`\n`));
      const links = [...markdown.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => link);
      const isThere = (link: string) =>
        link.startsWith(`${baseUrl}/`)
          ? documents.has(link.slice(baseUrl.length))
          : /^https:\/\/[\w.-]+(?:\/|$)/.test(link);
      expect(
        links.filter((link) => !isThere(link)),
        path,
      ).toEqual([]);
      const text = markdown.replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
      expect(text, path).not.toMatch(/(?<!\\)<[a-z/!]/i);
    }
  });

  test('no page holds a script beside the one of all, a style of its own or a resource from elsewhere', () => {
    const own = /<script defer src="\/docs\/docs\.js\?v=\w{12}"[^>]*><\/script>/;
    for (const [path] of pages) {
      expect(body(path), path).toMatch(own);
      const rest = body(path).replace(own, '');
      expect(rest, path).not.toMatch(
        /<script|<style|<iframe|<img|\sstyle=|\son\w+=|\ssrc=|@import|<link[^>]*href="https?:/i,
      );
      expect(rest, path).not.toMatch(/href="(?!https:\/\/|\/|#|data:image\/svg)/);
    }
  });

  test('each page, with its style and script, has at most 30 kB', () => {
    const zipped = (path: string) => gzipSync(body(path)).length;
    const shared = zipped('/docs/style.css') + zipped('/docs/docs.js');
    for (const [path] of pages) expect(zipped(path) + shared, path).toBeLessThan(30 * 1024);
    expect(zipped('/docs/search.json')).toBeLessThan(150 * 1024);
  });

  test('the search has an entry for each page, at an address that is there', () => {
    const entries = JSON.parse(body('/docs/search.json')) as { id: string }[];
    const found = new Set(entries.map(({ id }) => id.replace(/#.*/, '')));
    const wanted = pages.map(([path]) => path).filter((path) => !['/docs/errors', '/docs/events'].includes(path));
    expect([...found].sort()).toEqual(wanted.sort());
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    for (const { id } of entries) {
      const [path = '', anchor] = id.split('#');
      if (anchor !== undefined) expect(body(path), id).toContain(`<h2 id="${anchor}">`);
    }
  });
});

test('pages behind a path prefix link below it', () => {
  const [, manifest] = manifests[0] as (typeof manifests)[number];
  const documents = publicDocuments(manifest, { baseUrl: 'https://example.org/infra' });
  expect(documents.get('/docs')?.render()).toContain('href="/infra/docs/style.css?v=');
  expect(documents.get('/docs/guides/queues')?.render()).toContain('href="/infra/docs/guides/webhooks"');
  const backup = documents.get('/docs/guides/backup')?.render();
  expect(backup, 'a file of docs/deploy').toContain('href="/infra/docs/guides/self-hosting#videos-in-a-bucket"');
});
